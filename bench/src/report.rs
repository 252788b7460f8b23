//! Where results go: a table on standard output, and CSV in a file if one is named.

use crate::timing::Line;
use std::fs::File;
use std::io::Write;

pub(crate) struct Report {
    csv: Option<File>,
}

impl Report {
    pub(crate) fn new(csv: Option<&str>) -> std::io::Result<Report> {
        let mut csv = csv.map(File::create).transpose()?;
        if let Some(file) = &mut csv {
            writeln!(
                file,
                "measurement,keys,name,median_ns,quartile1_ns,quartile3_ns,ratio,ratio_prefetched,\
                 passed"
            )?;
        }
        println!("{}", machine());
        Ok(Report { csv })
    }

    /// A table of one measurement. `bases` names what the two ratios are to; the share that passed
    /// is shown if `rates`.
    pub(crate) fn table(
        &mut self,
        title: &str,
        keys: usize,
        bases: [&str; 2],
        rates: bool,
        lines: &[Line],
    ) -> std::io::Result<()> {
        println!("\n{title}, {keys} keys: {}, kernels {}", processor(), tamis::processor_level());
        println!(
            "  {:<34}{:>9}{:>18}{:>12}{:>14}{:>10}",
            "",
            "ns a key",
            "(quartiles)",
            bases[0],
            bases[1],
            if rates { "pass" } else { "" }
        );
        for Line { name, median, spread: (low, high), ratios: [ratio, second], passed } in lines {
            let spread = format!("({low:.2} to {high:.2})");
            let second_shown =
                if bases[1].is_empty() { String::new() } else { format!("{second:.2}") };
            let rate = if rates && *passed <= 1.0 {
                format!("{:.3}%", 100.0 * passed)
            } else {
                String::new()
            };
            println!(
                "  {name:<34}{median:>9.2}{spread:>18}{ratio:>12.2}{second_shown:>14}{rate:>10}"
            );
            if let Some(file) = &mut self.csv {
                writeln!(
                    file,
                    "{title},{keys},{},{median:.3},{low:.3},{high:.3},{ratio:.3},{second:.3},\
                     {passed:.6}",
                    name.replace(',', ";")
                )?;
            }
        }
        Ok(())
    }
}

/// The processor's name, as far as the system tells.
fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("an unknown processor", |(_, name)| name).to_owned()
}

/// The processor, its caches and how the program was built, as far as the system tells.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let caches: Vec<String> = (0..4)
        .map(|i| {
            let field = |name| {
                read(&format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{name}"))
                    .trim()
                    .to_owned()
            };
            format!("L{} {} {}", field("level"), field("type").to_lowercase(), field("size"))
        })
        .filter(|cache| cache.len() > 4)
        .collect();
    let built = match (cfg!(target_feature = "avx512vbmi2"), cfg!(target_feature = "avx2")) {
        (true, _) => "for processors with AVX-512",
        (_, true) => "for processors with AVX2",
        _ => "for any processor of its kind",
    };
    format!(
        "{}, {} cores, {}\nhuge pages: {}; built {built}",
        processor(),
        std::thread::available_parallelism().map_or(0, usize::from),
        caches.join(", "),
        read("/sys/kernel/mm/transparent_hugepage/enabled").trim(),
    )
}
