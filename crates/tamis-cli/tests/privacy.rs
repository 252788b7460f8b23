//! The privacy promise on the command line.

#![allow(clippy::unwrap_used)]

mod shell;

use shell::{Shell, lines};

#[test]
fn plans_show_the_errors_the_size_and_the_floor() {
    let shell = Shell::new();
    let plan = shell.run("plan privacy --items 1e6 --epsilon 4 --json").json();
    assert_eq!((&plan["promise"], &plan["method"]), (&"privacy".into(), &"linear".into()));
    assert_eq!((plan["items"].as_u64(), plan["q"].as_u64()), (Some(1_000_000), Some(53)));
    let number = |field: &str| plan[field].as_f64().unwrap();
    assert!(number("epsilon") <= 4.0 && number("epsilon") > 3.95);
    assert_eq!(
        (number("epsilon_asked"), number("epsilon_replace")),
        (4.0, 2.0 * number("epsilon"))
    );
    assert!(number("fp") <= 0.0195 && number("fn") <= 0.0195 && number("bits_per_item") <= 6.3);
    assert!((number("floor") - 1.0 / (number("epsilon").exp() + 1.0)).abs() < 1e-12);
    assert_eq!(plan["bytes"].as_u64().unwrap() * 8, plan["bits"].as_u64().unwrap());

    let few = shell.run("plan privacy --items 1e6 --epsilon 4 --fp 0.1% --json").json();
    assert!(few["fp"].as_f64().unwrap() <= 0.001 && few["fn"].as_f64().unwrap() > 0.5);
    let many = shell.run("plan privacy --items 1e6 --epsilon 4 --fp 0.25 --json").json();
    assert!(many["fn"].as_f64().unwrap() < plan["fn"].as_f64().unwrap());

    let bloom = shell.run("plan privacy --items 1e6 --epsilon 4 --method bloom --json").json();
    assert_eq!(bloom["bits"], 16_000_000);
    assert!(bloom["fp"].as_f64().unwrap() > number("fp"));
    let paper = "plan privacy --items 1048576 --epsilon 40 --method bloom --bits 16777216 \
        --hashes 10 --threshold 10 --json";
    let paper = shell.run(paper).json();
    assert_eq!((paper["hashes"].as_u64(), paper["epsilon_bit"].as_f64()), (Some(10), Some(4.0)));
    assert!((paper["fn"].as_f64().unwrap() - 0.166).abs() < 0.001);

    let words = shell.run("plan privacy --items 1e6 --epsilon 4").ok();
    for word in ["1,000,000 items", "(FN)", "(FP)", "least", "6.26 bits an item"] {
        assert!(words.contains(word), "{words}");
    }
}

#[test]
fn bad_plans_are_refused() {
    let shell = Shell::new();
    shell.run("plan privacy --items 10 --epsilon -1").refused(&["negative"]);
    shell.run("plan privacy --items 10 --epsilon NaN").refused(&["not a number"]);
    shell.run("plan privacy --items 10 --epsilon 0").refused(&["no loss"]);
    shell
        .run("plan privacy --items 10 --epsilon 1e-10")
        .refused(&["smallest loss above 0 is 1e-9"]);
    shell.run("plan privacy --items 0 --epsilon 1").refused(&["at least 1 item"]);
    shell.run("plan privacy --items 18446744073709551615 --epsilon 1").refused(&["fewer items"]);
    shell.run("plan privacy --items 10").refused(&["--epsilon E"]);
    shell.run("plan privacy --epsilon 1").refused(&["--items N"]);
    shell.run("plan privacy --items 10 --epsilon 1 --fp 0").refused(&["nearest"]);
    shell.run("plan privacy --items 10 --epsilon 1 --fp 2").refused(&["2%"]);
    shell.run("plan privacy --items 10 --epsilon 1 --bits 99").refused(&["--method bloom"]);
    shell
        .run("plan privacy --items 10 --epsilon 1 --method bloom --hashes 65")
        .refused(&["nearest feasible number is 64"]);
    shell
        .run("plan privacy --items 10 --epsilon 1 --method bloom --hashes 3 --threshold 4")
        .refused(&["nearest feasible one is 3"]);
}

/// Names from many scripts, so that text in any language is seen to work.
fn names(count: u32) -> String {
    let first = ["Zoë", "李雷", "Иван", "محمد", "นภา", "Θάλεια", "さくら", "🦊"];
    (0..count).map(|i| format!("{} {i}\n", first[i as usize % first.len()])).collect()
}

#[test]
fn a_release_answers_probably_and_says_so() {
    let shell = Shell::new();
    shell.file("members.txt", names(4000)).file("strangers.txt", lines(0..4000));
    for method in ["linear", "bloom"] {
        let build = format!(
            "build privacy --items 4000 --epsilon 4 --method {method} -o public.tamis members.txt"
        );
        let built = shell.run(&build);
        assert_eq!(built.code, 0, "{}", built.err);
        assert!(
            built.err.contains("no --ledger") && built.err.contains("costs another"),
            "{}",
            built.err
        );
        let measured = shell
            .run("measure public.tamis --members members.txt --strangers strangers.txt --json")
            .json();
        // Five standard deviations of 4,000 answers.
        for (rate, expected) in [("fnr", "fnr_now"), ("fpr", "fpr_now")] {
            let (rate, expected) =
                (measured[rate].as_f64().unwrap(), measured[expected].as_f64().unwrap());
            assert!(
                (rate - expected).abs() < 5.0 * (expected / 4000.0).sqrt(),
                "{method}: {rate} {expected}"
            );
            assert!(expected > 0.005, "{expected}");
        }
        let asked = shell.run("query public.tamis members.txt");
        assert!(
            asked.code == 0 && asked.out.contains("Zoë 0") || asked.out.contains("Zoë 8"),
            "{}",
            asked.out
        );
        assert!(asked.err.contains("probably: of members 98"), "{}", asked.err);
        let asked = shell.run("query public.tamis members.txt --json").json();
        assert!(asked["fp"].as_f64().unwrap() > 0.005 && asked["fn"].as_f64().unwrap() > 0.005);
        // All of them are members. The unbiased value may lie above their number, the interval not.
        let keys = asked["keys"].as_f64().unwrap();
        let members = |field: &str| asked["members"][field].as_f64().unwrap() / keys;
        assert!((members("value") - 1.0).abs() < 0.02, "{asked}");
        assert!(0.95 < members("low") && members("low") < members("high"), "{asked}");
        assert!(members("high") <= 1.0, "{asked}");
        let info = shell.run("info public.tamis --json").json();
        assert_eq!(
            (&info["promise"], &info["method"], &info["items"]),
            (&"privacy".into(), &method.into(), &4000.into())
        );
        assert!(shell.run("info public.tamis").ok().contains("how many, it does not tell"));
        for (command, word) in [
            ("add public.tamis members.txt", "cannot be changed"),
            ("remove public.tamis members.txt", "cannot be changed"),
            ("list public.tamis", "cannot list"),
            ("grow public.tamis --blocks 2", "fixed"),
            ("union public.tamis public.tamis -o both.tamis", "cannot be merged"),
            ("publish public.tamis --epsilon 1 -o again.tamis", "published already"),
        ] {
            shell.run(command).refused(&[word]);
        }
    }
    assert_eq!(shell.entries(), ["members.txt", "public.tamis", "strangers.txt"]);
}

#[test]
fn files_are_as_long_whatever_the_set() {
    let shell = Shell::new();
    let mut sizes = Vec::new();
    for count in [0, 1, 500, 2000] {
        shell.file("keys.txt", names(count));
        let built = shell.run("build privacy --items 500 --epsilon 2 -o public.tamis keys.txt");
        assert_eq!(built.code, 0, "{}", built.err);
        assert_eq!(built.err.contains("for you alone"), count > 500, "{}", built.err);
        sizes.push(std::fs::metadata(shell.path("public.tamis")).unwrap().len());
    }
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}

#[test]
fn a_ledger_pays_before_and_refuses_past_its_budget() {
    let shell = Shell::new();
    shell.file("keys.txt", names(100));
    shell.run("ledger new keys.ledger --budget 5 --about Übung").ok();
    shell.run("ledger new keys.ledger --budget 50").refused(&["exists", "never overwritten"]);
    let private =
        "build privacy --items 100 --epsilon 2 --method bloom --private -o private.tamis keys.txt";
    assert!(shell.run(private).ok().contains("keep it to yourself"));
    assert_eq!(shell.run("ledger show keys.ledger --json").json()["spent"], 0.0);
    let linear = "build privacy --items 100 --epsilon 2 --ledger keys.ledger -o linear.tamis \
        keys.txt --json";
    let first = shell.run(linear);
    assert_eq!(first.err, "");
    let first = first.json();
    assert_eq!((&first["charged"], first["left"].as_f64()), (&true.into(), Some(3.05408985)));
    let publish = "publish private.tamis --epsilon 2 --ledger keys.ledger -o public.tamis";
    assert!(shell.run(publish).ok().contains("1.05408985 is left"));
    let before = std::fs::read(shell.path("public.tamis")).unwrap();
    shell.run(publish).refused(&["does not pay", "1.05408985", "nothing was charged"]);
    assert_eq!(std::fs::read(shell.path("public.tamis")).unwrap(), before);
    // More keys, another release: different bytes, and another charge.
    shell.with_input("add private.tamis", "newcomer\n").ok();
    let again = shell
        .run("publish private.tamis --epsilon 1 --ledger keys.ledger -o public.tamis --json")
        .json();
    assert_eq!((&again["left"], &again["hashes"]), (&0.05408985.into(), &1.into()));
    assert_ne!(std::fs::read(shell.path("public.tamis")).unwrap(), before);
    let shown = shell.run("ledger show keys.ledger --json").json();
    assert_eq!((&shown["about"], shown["entries"].as_array().unwrap().len()), (&"Übung".into(), 3));
    assert_eq!(shown["entries"][2]["note"], "public.tamis");
    let words = shell.run("ledger show keys.ledger").ok();
    assert!(words.contains("spent     4.94591015 in 3 charges"), "{words}");
}

/// 48 charges of 0.1 by their sum, 100 with a delta.
#[test]
fn a_delta_pays_for_more_releases() {
    let shell = Shell::new();
    shell.file("keys.txt", names(100));
    let new = shell.run("ledger new daily.ledger --budget 4.8 --delta 1e-6 --json").json();
    assert_eq!(
        (&new["delta"], &new["spent"], &new["sum"]),
        (&1e-6.into(), &0.0.into(), &0.0.into())
    );
    let fits = |size: &str| {
        let shown = shell.run(&format!("ledger show daily.ledger --json --release {size}")).json();
        shown["release"]["count"].as_u64().unwrap()
    };
    assert_eq!((fits("0.1"), fits("4.8"), fits("5"), fits("1e-6")), (100, 1, 0, 10_000));
    let release = |n: u32| {
        format!("build privacy --items 100 --epsilon 0.1 --ledger daily.ledger -o {n} keys.txt")
    };
    (1..=10).for_each(|n| drop(shell.run(&release(n)).ok()));
    let shown = shell.run("ledger show daily.ledger --json").json();
    assert_eq!((&shown["sum"], &shown["release"]["count"]), (&1.0.into(), &90.into()));
    let words = shell.run("ledger show daily.ledger").ok();
    assert!(words.contains("4.8, but for a chance of 1e-6"), "{words}");
    assert!(words.contains("90 more at 0.1"), "{words}");
    shell.run("publish x --epsilon 5 --ledger daily.ledger -o y").refused(&["x"]);
    // Two large ones gain nothing, and that is said.
    shell.run("ledger new large.ledger --budget 9 --delta 1e-6").ok();
    let large = "build privacy --items 100 --epsilon 3 --ledger large.ledger --force -o l keys.txt";
    (0..2).for_each(|_| drop(shell.run(large).ok()));
    let words = shell.run("ledger show large.ledger").ok();
    assert!(words.contains("too few or too large to gain from a delta"), "{words}");
    for delta in ["0", "1", "-0.5", "-1e-6", "1e-19", "NaN", "x"] {
        shell
            .run(&format!("ledger new new.ledger --budget 1 --delta {delta}"))
            .refused(&["is no delta", "1e-6"]);
    }
    shell.run("ledger show daily.ledger --release 0").refused(&["--release 0", "any number"]);
}

#[test]
fn a_damaged_ledger_pays_for_nothing() {
    let shell = Shell::new();
    shell.file("keys.txt", names(10));
    let build =
        "build privacy --items 10 --epsilon 1 --ledger keys.ledger -o public.tamis keys.txt";
    shell.run(build).refused(&["no ledger keys.ledger", "tamis ledger new"]);
    shell.run("ledger new keys.ledger --budget 5").ok();
    shell.run(build).ok();
    std::fs::remove_file(shell.path("public.tamis")).unwrap();
    let whole = std::fs::read(shell.path("keys.ledger")).unwrap();
    shell.file("keys.ledger", &whole[..whole.len() - 4]);
    shell.run(build).refused(&["torn", "tamis ledger repair keys.ledger"]);
    shell.run("ledger show keys.ledger").refused(&["torn"]);
    let repaired = shell.run("ledger repair keys.ledger --json").json();
    assert_eq!(repaired["spent"], 1.0);
    shell.file("keys.ledger", String::from_utf8(whole).unwrap().replacen("\t1\t", "\t0.5\t", 1));
    shell.run(build).refused(&["line"]);
    assert!(!shell.path("public.tamis").exists());
    // A release must not be written over what pays for it.
    shell.run("ledger new other.ledger --budget 5").ok();
    shell
        .run(
            "build privacy --items 10 --epsilon 1 --ledger other.ledger --force -o other.ledger \
             keys.txt",
        )
        .refused(&["overwrite"]);
    assert_eq!(shell.run("ledger show other.ledger --json").json()["spent"], 0.0);
}

#[test]
fn input_that_cannot_be_read_costs_nothing() {
    let shell = Shell::new();
    shell.run("ledger new keys.ledger --budget 5").ok();
    shell
        .run("build privacy --items 10 --epsilon 1 --ledger keys.ledger -o public.tamis absent.txt")
        .refused(&["absent.txt"]);
    shell.file("keys.txt", "seven\n");
    shell
        .run(
            "build privacy --items 10 --epsilon 1 --ledger keys.ledger --keys integers \
             -o public.tamis keys.txt",
        )
        .refused(&["seven"]);
    shell
        .run(
            "build privacy --items 10 --epsilon 1 --ledger keys.ledger \
             -o no/such/folder/public.tamis keys.txt",
        )
        .refused(&["no folder"]);
    assert_eq!(shell.run("ledger show keys.ledger --json").json()["spent"], 0.0);
}

#[test]
fn only_private_bloom_filters_are_published() {
    let shell = Shell::new();
    shell.file("keys.txt", lines(0..50));
    shell.run("build rate --items 50 --filter blocked -o blocked.tamis keys.txt").ok();
    shell
        .run("publish blocked.tamis --epsilon 1 -o public.tamis")
        .refused(&["blocked", "--private"]);
    shell.run("build rate --items 50 --hash prefixed -o slow.tamis keys.txt").ok();
    shell.run("publish slow.tamis --epsilon 1 -o public.tamis").refused(&["prefixed"]);
    shell.run("build rate --items 50 -o plain.tamis keys.txt").ok();
    shell.run("publish plain.tamis --epsilon 1 -o plain.tamis").refused(&["overwrite"]);
    shell
        .run("publish plain.tamis --epsilon 1 --threshold 9 -o public.tamis")
        .refused(&["nearest feasible one is 7"]);
    shell
        .run("build privacy --items 50 --epsilon 1 --private -o x.tamis keys.txt")
        .refused(&["--method bloom"]);
    let public =
        shell.run("publish plain.tamis --epsilon 7 --threshold 7 -o public.tamis --json").json();
    assert_eq!((&public["hashes"], &public["threshold"]), (&7.into(), &7.into()));
    // Standard output is the release, and what there is to say goes to standard error.
    let piped = shell.run("publish plain.tamis --epsilon 7 -o -");
    assert!(piped.code == 0 && piped.err.contains("may be published"), "{}", piped.err);
}

#[test]
fn keyed_releases_need_their_key() {
    let shell = Shell::new();
    shell.file("keys.txt", names(200)).file("secret", "0123456789abcdef0123456789abcdef");
    shell
        .run("build privacy --items 200 --epsilon 4 --key-file secret -o public.tamis keys.txt")
        .ok();
    shell.run("query public.tamis keys.txt").refused(&["--key-file"]);
    let passed = shell.run("query public.tamis keys.txt --key-file secret -c").ok();
    assert!(passed.trim().parse::<u32>().unwrap() > 170, "{passed}");
}

#[test]
fn audits_pass_ours_and_catch_what_is_planted() {
    let shell = Shell::new();
    let ours = shell.run("audit --runs 5000 --json").json();
    assert_eq!(
        (&ours["as_expected"], ours["findings"].as_array().unwrap().len()),
        (&true.into(), 4)
    );
    let planted = shell.run("audit --planted --runs 20000 --json").json();
    assert_eq!(planted["as_expected"], true);
    let caught = planted["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|found| found["verdict"] == "violated");
    assert!(caught.count() >= 6);
    // Too few runs catch nothing, which is not as expected.
    let blind = shell.run("audit --planted --runs 10");
    assert_eq!(blind.code, 1, "{}", blind.err);
    shell.run("audit --runs 0").refused(&["0 runs"]);
}

/// By keys for any two releases, by bits for two of one seed; united, both sets pass.
#[test]
fn two_sets_are_compared_and_united() {
    let shell = Shell::new();
    shell.file("ours.txt", lines(0..2_000));
    shell.file("theirs.txt", lines(1_200..3_200));
    shell.file("all.txt", lines(0..6_000));
    let bloom = "build privacy --items 2000 --epsilon 6 --method bloom";
    shell.run(&format!("{bloom} --private -o ours.tamis ours.txt")).ok();
    shell.run(&format!("{bloom} --private --seed-from ours.tamis -o theirs.tamis theirs.txt")).ok();
    shell.run("union ours.tamis theirs.tamis -o both.tamis").ok();
    for file in ["ours.txt", "theirs.txt"] {
        assert_eq!(shell.run(&format!("query -c both.tamis {file}")).ok().trim(), "2000");
    }
    for name in ["ours", "theirs"] {
        shell.run(&format!("publish {name}.tamis --epsilon 6 -o {name}.pub")).ok();
    }
    shell.run("build privacy --items 2000 --epsilon 4 -o linear.pub theirs.txt").ok();
    // Seven deviations of the estimates, which are about 40 by bits, and 15 and 17 by keys.
    for (command, method, bound) in [
        ("overlap ours.pub theirs.pub", "bits", 280.0),
        ("overlap ours.pub theirs.pub all.txt", "keys", 120.0),
        ("overlap ours.pub linear.pub all.txt", "keys", 120.0),
        ("overlap linear.pub ours.pub all.txt", "keys", 120.0),
    ] {
        let report = shell.run(&format!("{command} --json")).json();
        let number = |field: &str| report["overlap"][field].as_f64().unwrap();
        assert_eq!(report["method"], method);
        assert!((number("value") - 800.0).abs() < bound, "{report}");
        assert!(number("low") < number("value") && number("value") < number("high"), "{report}");
        assert_eq!(report["keys"].as_u64(), (method == "keys").then_some(6_000));
        assert!(shell.run(command).ok().contains("in common about "));
    }
    shell.run("overlap linear.pub linear.pub").refused(&["candidate keys"]);
    shell.run("overlap ours.tamis theirs.pub").refused(&["not published", "tamis union"]);
    shell.run(&format!("{bloom} -o other.pub theirs.txt")).ok();
    shell.run("overlap ours.pub other.pub").refused(&["seed", "--seed-from", "candidate keys"]);
    shell.run("overlap ours.pub none.pub").refused(&["none.pub"]);
    // A release that could not be compared is refused before it is charged.
    shell.run("ledger new l --budget 6").ok();
    let larger = bloom.replace("2000", "3000");
    shell
        .run(&format!("{larger} --seed-from ours.pub --ledger l -o x theirs.txt"))
        .refused(&["--bits 32000 --hashes 1"]);
    let linear = "build privacy --items 2000 --epsilon 4 --seed-from ours.pub --ledger l -o x";
    shell.run(&format!("{linear} theirs.txt")).refused(&["--method bloom"]);
    shell
        .run(&format!("{bloom} --seed-from linear.pub --ledger l -o x theirs.txt"))
        .refused(&["linear filter"]);
    assert!(shell.run("ledger show l").ok().contains("spent     0 in 0 charges"));
}
