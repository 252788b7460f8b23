//! Shares of a whole: 0.01 or 1%.

/// A share: `0.01` or `1%`. Whether it is feasible, the plan decides.
pub fn share(text: &str) -> Result<f64, String> {
    let (digits, divisor) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    match digits.trim().parse::<f64>() {
        Ok(number) => Ok(number / divisor),
        Err(_) => Err("write a share such as 0.01, 1e-6 or 1%".to_owned()),
    }
}
