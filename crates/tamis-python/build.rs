//! Tells the compiler whether the interpreter has a global lock (`Py_GIL_DISABLED`).
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
