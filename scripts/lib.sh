# Sourced by the other scripts: goes to the repository's root, and collects what is left out.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A script that another one calls adds to the caller's list. The outermost script prints it.
if [ -z "${TAMIS_LEFT_OUT:-}" ]; then
    TAMIS_LEFT_OUT=$(mktemp)
    export TAMIS_LEFT_OUT
    trap finish EXIT
fi

# left_out WHAT WHY: a check that cannot run here.
left_out() {
    printf 'left out: %s (%s)\n' "$1" "$2" | tee -a "$TAMIS_LEFT_OUT"
}

finish() {
    local code=$?
    # What runs beside the script ends with it.
    jobs -p | xargs -r kill 2>/dev/null || true
    if [ -s "$TAMIS_LEFT_OUT" ]; then
        printf '\n== LEFT OUT\n'
        cat "$TAMIS_LEFT_OUT"
    fi
    rm -f "$TAMIS_LEFT_OUT"
    exit "$code"
}

# step NAME: a heading, with the seconds since the script began.
step() { printf '\n== %s (at %s s)\n' "$*" "$SECONDS"; }

# has COMMAND: whether it is installed.
has() { command -v "$1" >/dev/null 2>&1; }

# find_browser: prints the path of a Chromium, or fails.
find_browser() {
    local name
    for name in "${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        if [ -n "$name" ] && command -v "$name"; then return 0; fi
    done
    return 1
}

# has_target TRIPLE: whether the toolchain can compile for it.
has_target() { [ -d "$(rustc --print target-libdir --target "$1" 2>/dev/null)" ]; }
