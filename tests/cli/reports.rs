//! Reports of sweeps, and timelines: their contents, identical bytes on repetition, and rejected
//! inputs.

use std::path::Path;

use serde_json::Value;

use crate::support::{in_dir, names, scratch, stderr, stdout};

const PLAN: &str = "Sweep(kernels: [Kernel(\"lrr-witness\"), Kernel(\"witness-929\"), Kernel(\"vecadd\")],
    machines: [\"lrr-witness\", \"pull-apart-9\"], policies: [\"lrr\", \"gto\"])";

/// Creates a folder `r` with results: 1 of 12 points violated, 6 failed.
fn results(dir: &Path) {
    std::fs::write(dir.join("plan.ron"), PLAN).unwrap();
    assert_eq!(in_dir(dir, &["sweep", "plan.ron", "--out", "r"]).status.code(), Some(3));
}

#[track_caller]
fn ends(dir: &Path, args: &[&str], code: i32) -> String {
    let output = in_dir(dir, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

#[track_caller]
fn ok(dir: &Path, args: &[&str]) -> String {
    ends(dir, args, 0)
}

/// A report of results in which a bound is violated.
#[track_caller]
fn violated(dir: &Path, args: &[&str]) -> String {
    ends(dir, args, 3)
}

#[track_caller]
fn refused(dir: &Path, args: &[&str]) -> String {
    let output = in_dir(dir, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn a_report_lists_failures_first_and_is_self_contained() {
    let dir = scratch("report");
    results(&dir);
    let message = violated(&dir, &["report", "r", "--out", "report.html"]);
    assert!(
        message.contains("12 points of 1 source, 1 violated, 6 failed") && message.contains("report.html"),
        "{message}"
    );
    let page = read(&dir, "report.html");
    let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is not there"));
    assert!(at("A bound is violated at 1 point") < at("6 points failed"));
    assert!(page.contains("<b>gub</b> under lrr: 1 of 3 points") && page.contains("down to -5.4 %"));
    assert!(page.contains("maps op class `f3` to no unit"));
    let manifest: Value = serde_json::from_str(&read(&dir, "r/manifest.json")).unwrap();
    assert!(
        page.contains(manifest["plan_digest"].as_str().unwrap()) && page.contains(env!("CARGO_PKG_VERSION"))
    );
    for outside in ["http:", "https:", "src=", "@import", "fill=\"#"] {
        // names of XML namespaces are not addresses that are requested
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
    }
    // the same from the lines alone, except for the plan, and from two sources
    violated(&dir, &["report", "r/results.jsonl", "--out", "lines.html"]);
    assert!(read(&dir, "lines.html").contains("this file has no manifest"));
    let message = violated(&dir, &["report", "r", "r/results.jsonl", "--out", "both.html"]);
    assert!(message.contains("24 points of 2 sources, 2 violated, 12 failed"), "{message}");
    // and from the output of `check`
    let printed = in_dir(&dir, &["check", "lrr-witness", "fig3", "nowhere", "--format", "json"]);
    std::fs::write(dir.join("check.json"), &printed.stdout).unwrap();
    let message = violated(&dir, &["report", "check.json", "--out", "check.html"]);
    assert!(message.contains("3 points of 1 source, 1 violated, 1 failed"), "{message}");
}

#[test]
fn the_same_bytes_twice() {
    let dir = scratch("report-twice");
    results(&dir);
    for out in ["a", "b"] {
        let (page, plots) = (format!("{out}.html"), format!("{out}-plots"));
        violated(&dir, &["report", "r", "--out", &page, "--svg", &plots]);
        ok(
            &dir,
            &["run", "fig3", "--trace", &format!("{out}-run.html"), "--trace", &format!("{out}-run.svg")],
        );
    }
    for [a, b] in [["a.html", "b.html"], ["a-run.html", "b-run.html"], ["a-run.svg", "b-run.svg"]] {
        assert!(read(&dir, a) == read(&dir, b), "{a}");
    }
    let plots = names(&dir.join("a-plots"));
    assert_eq!(plots, names(&dir.join("b-plots")));
    assert!(
        plots.contains(&"spread-lrr.svg".to_owned()) && plots.contains(&"kernels.svg".to_owned()),
        "{plots:?}"
    );
    for name in &plots {
        let plot = read(&dir, &format!("a-plots/{name}"));
        assert!(plot == read(&dir, &format!("b-plots/{name}")), "{name}");
        assert!(plot.starts_with("<svg ") && !plot.contains("var("), "{name} has colours of its own");
    }
}

#[test]
fn invalid_results_are_refused_with_their_place() {
    let dir = scratch("report-bad");
    results(&dir);
    std::fs::create_dir(dir.join("other")).unwrap();
    let message = refused(&dir, &["report", "nowhere", "other", "--out", "p.html"]);
    assert!(
        message.contains("nowhere")
            && message.contains("--> other")
            && message.contains("no folder of results"),
        "{message}"
    );
    assert!(message.contains("hint: name a folder"), "{message}");

    let lines = read(&dir, "r/results.jsonl");
    let second = lines.lines().nth(1).unwrap();
    std::fs::write(dir.join("broken.jsonl"), lines.replace(second, "{\"point\": 1,,}")).unwrap();
    let message = refused(&dir, &["report", "broken.jsonl", "--out", "p.html"]);
    assert!(
        message.contains("broken.jsonl:2:13") && message.contains("no record") && message.contains("hint"),
        "{message}"
    );
    std::fs::write(dir.join("other.jsonl"), "{\"point\": 1}\n").unwrap();
    let message = refused(&dir, &["report", "other.jsonl", "--out", "p.html"]);
    assert!(message.contains("other.jsonl:1:1") && message.contains("`kernel` is not there"), "{message}");
    for empty in ["", "{\"point\": 1", "\n\n"] {
        std::fs::write(dir.join("empty.jsonl"), empty).unwrap();
        let message = refused(&dir, &["report", "empty.jsonl", "--out", "p.html"]);
        assert!(message.contains("there are no results"), "{message}");
    }
    std::fs::write(dir.join("r/manifest.json"), "{}").unwrap();
    assert!(refused(&dir, &["report", "r", "--out", "p.html"]).contains("manifest.json is not a manifest"));
    assert!(!dir.join("p.html").exists(), "nothing is left");
    // neither a page nor plots
    assert_eq!(in_dir(&dir, &["report", "r"]).status.code(), Some(2));
}

#[test]
fn existing_outputs_need_force() {
    let dir = scratch("report-force");
    results(&dir);
    let args = ["report", "r", "--out", "p.html", "--svg", "plots"];
    violated(&dir, &args);
    std::fs::write(dir.join("p.html"), "mine").unwrap();
    assert!(refused(&dir, &args).contains("--force"));
    assert!(refused(&dir, &["report", "r", "--svg", "plots"]).contains("there already"));
    assert_eq!(read(&dir, "p.html"), "mine");
    violated(&dir, &[&args[..], &["--force"]].concat());
    assert!(read(&dir, "p.html").starts_with("<!DOCTYPE html>"));
    let onto = refused(&dir, &["report", "r", "--out", "r/results.jsonl", "--force"]);
    assert!(onto.contains("which is read"), "{onto}");
    assert!(refused(&dir, &["run", "fig3", "--trace", "p.html"]).contains("--force"));
}

#[test]
fn a_timeline_has_the_schedule_and_its_source() {
    let dir = scratch("timeline");
    ok(&dir, &["run", "fig3", "--trace", "t.html", "--trace", "t.csv", "--trace", "t.svg"]);
    let page = read(&dir, "t.html");
    let data = timeline_data(&page);
    assert_eq!((&data["end"], data["sms"].as_array().unwrap().len()), (&17.into(), 1));
    let sm = &data["sms"][0];
    let table: Vec<String> = read(&dir, "t.csv").lines().skip(1).map(str::to_owned).collect();
    assert_eq!(
        sm["rows"].as_array().unwrap().iter().map(|row| row[6].as_u64().unwrap()).sum::<u64>(),
        table.len() as u64
    );
    // issue cycles within a warp, as differences
    let issues = unpacked(sm["issue"].as_str().unwrap());
    let mut of_table: Vec<(u64, u64)> = table
        .iter()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|cells| (cells[1].parse().unwrap(), cells[4].parse().unwrap()))
        .collect();
    of_table.sort_unstable();
    let (mut warp, mut before) = (0, 0);
    for ((of, cycle), difference) in of_table.into_iter().zip(issues) {
        if of != warp {
            (warp, before) = (of, 0);
        }
        assert_eq!(cycle, before + difference);
        before = cycle;
    }
    assert!(page.contains("Stalls by line") && page.contains("f2 r3, r0"));
    let figure = read(&dir, "t.svg");
    assert!(figure.starts_with("<svg ") && figure.contains("f2 r3, r0") && figure.contains("w1 alone"));
}

/// Returns the data for the scripts of a timeline.
fn timeline_data(page: &str) -> Value {
    let data = page.split("id=\"timeline-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_timeline_has_every_sm_explains_its_terms_and_shows_a_picture_without_scripts() {
    let dir = scratch("timeline-sms");
    let args = ["run", "bias_gelu_grid", "--machine", "rtx3070", "--explain", "--html", "t.html"];
    let run = in_dir(&dir, &[&args[..], &["--format", "json"]].concat());
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    let page = read(&dir, "t.html");
    let data = timeline_data(&page);
    let sms = data["sms"].as_array().unwrap();
    let issues =
        |sm: &Value| sm["rows"].as_array().unwrap().iter().map(|row| row[6].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sms.len(), &data["sm_count"]), (46, &46.into()));
    assert_eq!(Some(sms.iter().map(issues).sum::<u64>()), printed["results"][0]["issues"].as_u64());
    assert_eq!(data["path_sm"], printed["results"][0]["explanation"]["sm"]);
    // each SM has the times of the whole run
    let end_of = |gaps: &Value| {
        unpacked(gaps.as_str().unwrap())
            .chunks(5)
            .fold((0, 0), |(at, _), gap| (at + gap[0], at + gap[0] + gap[1]))
            .1
    };
    assert_eq!(sms.iter().map(|sm| end_of(&sm["gaps"][0])).max(), data["end"].as_u64());
    assert!(page.contains("The machine has 46 SMs, 16 of which executed blocks; the critical path is on SM"));
    assert!(page.contains("Stalls by line of activation.ptx on all SMs"));

    // every link of the page leads to an element, and the legend has links
    let targets: Vec<&str> =
        page.split(" href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    for target in ["term-stallreason-scoreboard", "term-unit-fp32", "term-cause-memory", "term-term-warp"] {
        assert!(targets.contains(&target), "{target}: {targets:?}");
    }
    for target in targets {
        assert_eq!(page.matches(&format!(" id=\"{target}\"")).count(), 1, "{target}");
    }
    // the picture has a lane for each SM with blocks
    let still = page.split("<noscript>").nth(1).unwrap().split("</noscript>").next().unwrap();
    assert!(still.contains("This page runs no scripts") && still.contains("<svg role=\"img\""));
    for sm in 0..16 {
        assert!(still.contains(&format!(">SM {sm}</text><path ")), "{sm}");
    }
    assert!(!still.contains(">SM 16</text>"), "it had no block");
}

#[test]
fn a_timeline_shows_the_cuda_source_of_ptx_with_line_information() {
    let dir = scratch("timeline-source");
    let ptx = ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n\
               .reg .b64 %rd<2>;\n.loc 1 2 3\nld.param.u64 %rd1, [p];\n.loc 1 3 9\nmov.u32 %r1, %tid.x;\n\
               .loc 2 40 1\nadd.s32 %r2, %r1, 1;\n.loc 1 3 7\nst.global.u32 [%rd1], %r2;\nret;\n}\n\
               .file 1 \"/build/elsewhere/k.cu\"\n.file 2 \"/usr/include/lost.h\"\n";
    std::fs::write(dir.join("k.ptx"), ptx).unwrap();
    std::fs::write(
        dir.join("k.cu"),
        "// one\n__global__ void k(int *p) {\n  *p = threadIdx.x + 1; // <b>\n}\n",
    )
    .unwrap();
    let buffer = "Buffer(name: \"p\", elem: U32, len: 1, init: Zero)";
    let args = ["run", "k.ptx", "--grid", "1", "--block", "32", "--arg", buffer, "--races", "ignore"];
    ok(&dir, &[&args[..], &["--html", "t.html"]].concat());
    let page = read(&dir, "t.html");
    let data = timeline_data(&page);
    assert_eq!(data["files"], serde_json::json!(["k.cu", "lost.h"]));
    assert_eq!(unpacked(data["places"].as_str().unwrap()), [1, 2, 1, 3, 2, 40, 1, 3, 1, 3]);
    for shown in [
        "id=\"origin-0-3\" role=\"option\" aria-selected=\"false\"><span class=\"number\">3</span>  *p = threadIdx.x + 1; // &lt;b&gt;</div>",
        "lost.h (not found; the page shows it if it is beside the PTX)",
        "id=\"origin-1-40\"",
        "Stalls by line of the sources",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    // the stalls of a line of CUDA are those of its instructions
    let table = page.split("id=\"origin-stalls-table\"").nth(1).unwrap().split("</table>").next().unwrap();
    let third = table.split("<tr>").find(|row| row.contains("threadIdx.x + 1")).unwrap();
    assert!(third.contains("data-k=\"3\">3</td><td>k.cu</td><td class=\"n\" data-k=\"2\">2</td>"), "{third}");
    // the source is read, so that it is not replaced
    let message = refused(&dir, &[&args[..], &["--html", "u.html", "--force", "--dump", "p=k.cu"]].concat());
    assert!(message.contains("k.cu") && message.contains("read"), "{message}");
    assert!(read(&dir, "k.cu").starts_with("// one"));
    // without line information there is no list of sources
    ok(&dir, &["run", "saxpy", "--html", "plain.html"]);
    assert!(!read(&dir, "plain.html").contains("id=\"origin\""));
}

/// Decodes whole numbers of seven bits a byte, in base64.
fn unpacked(text: &str) -> Vec<u64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u32> = text.chars().filter_map(|c| DIGITS.find(c)).map(|digit| digit as u32).collect();
    let bytes = bits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - four.len()));
        (0..four.len() - 1).map(move |byte| (word >> (16 - 8 * byte)) as u8)
    });
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0, 0);
    for byte in bytes {
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    numbers
}

#[test]
fn markup_in_code_and_names_is_escaped() {
    let dir = scratch("timeline-text");
    let nasty = "</script><b onclick='x()'>&\"";
    let micro = format!(
        ".machine paper-fig2\n# {nasty}\n.warps 1\n    f0 r0 # {nasty}\n    f1 r1 # <!-- {nasty}\n    ret\n"
    );
    std::fs::write(dir.join("a<b>&.warp"), micro).unwrap();
    ok(&dir, &["run", "a<b>&.warp", "--trace", "t.html", "--trace", "t.svg"]);
    let page = read(&dir, "t.html");
    assert!(
        page.contains("&lt;/script&gt;&lt;b onclick=&#39;x()&#39;&gt;&amp;&quot;"),
        "the source shows it"
    );
    assert!(!page.contains("<b onclick") && !page.contains("<!--"));
    assert!(page.contains("<title>a&lt;b&gt;&amp; on paper-fig2</title>"));
    assert!(!read(&dir, "t.svg").contains("<b"));
}

#[test]
fn a_run_that_is_too_long_is_refused_and_leaves_nothing() {
    let dir = scratch("timeline-long");
    let message = refused(&dir, &["run", "vecadd", "--trace", "t.svg", "--trace", "t.html"]);
    assert!(message.contains("make no figure") && message.contains(".html shows longer runs"), "{message}");
    assert_eq!(names(&dir), ["t.html"], "one file does not take another with it");
}

#[test]
fn critical_paths_and_their_difference_are_on_the_page() {
    let dir = scratch("report-paths");
    for policy in ["gto", "lrr"] {
        let run = in_dir(&dir, &["run", "sgemm_naive", "--policy", policy, "--explain", "--format", "json"]);
        std::fs::write(dir.join(format!("{policy}.json")), &run.stdout).unwrap();
    }
    let output = in_dir(&dir, &["report", "gto.json", "lrr.json", "--out", "both.html"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let html = std::fs::read_to_string(dir.join("both.html")).unwrap();
    let printed = in_dir(&dir, &["diff", "gto.json", "lrr.json", "--format", "json"]);
    let diff: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
    let (a, b) = (&diff["results"][0]["a"]["makespan"], &diff["results"][0]["b"]["makespan"]);
    for words in [
        format!("each of the {a} cycles"),
        format!("each of the {b} cycles"),
        "From sgemm_naive on ecrts25-orin under gto to sgemm_naive on ecrts25-orin under lrr".to_owned(),
        "id=\"kind-differences-1\"".to_owned(),
    ] {
        assert!(html.contains(&words), "{words}");
    }
    // every cycle of the difference is in the table
    let table = html.split("id=\"kind-differences-1\"").nth(1).unwrap().split("</table>").next().unwrap();
    let differences = table.split("<tr>").skip(2).map(|row| {
        let cell = row.split("data-k=\"").nth(3).expect("four cells");
        cell.split('"').next().unwrap().parse::<i64>().unwrap()
    });
    assert_eq!(Some(differences.sum::<i64>()), diff["results"][0]["difference"].as_i64());
    // a file that differs from the output of `run`
    let broken = std::fs::read_to_string(dir.join("gto.json")).unwrap().replace("\"links\"", "\"lynx\"");
    std::fs::write(dir.join("broken.json"), broken).unwrap();
    let output = in_dir(&dir, &["report", "broken.json", "--out", "broken.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no critical path"), "{}", stderr(&output));
    assert!(!dir.join("broken.html").exists());

    // nor a file whose path does not match its makespan
    let mut short: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.join("gto.json")).unwrap()).unwrap();
    short["results"][0]["explanation"]["makespan"] = 1.into();
    std::fs::write(dir.join("short.json"), format!("{short}\n")).unwrap();
    let output = in_dir(&dir, &["report", "short.json", "--out", "short.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("does not add up to its 1 cycles"), "{}", stderr(&output));

    // and on the page of a timeline
    let output = in_dir(&dir, &["run", "sgemm_naive", "--explain", "--trace", "run.html"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let html = std::fs::read_to_string(dir.join("run.html")).unwrap();
    assert!(html.contains(&format!("each of the {a} cycles")) && html.contains("id=\"kinds-table\""));
}

/// The output of `wcet` and `static` is on the page: each method once, with its value, in the
/// table.
#[test]
fn worst_cases_over_all_paths_are_on_the_page() {
    let dir = scratch("report-wcet");
    let found = |args: &[&str], file: &str| {
        let printed = in_dir(&dir, args);
        std::fs::write(dir.join(file), &printed.stdout).unwrap();
        serde_json::from_slice::<Value>(&printed.stdout).unwrap()
    };
    let wcet = found(&["wcet", "ifelse", "sgemm_naive", "--runs", "2", "--format", "json"], "wcet.json");
    let bounds = found(&["static", "vecadd", "--format", "json"], "static.json");
    ok(&dir, &["report", "wcet.json", "static.json", "--out", "all.html"]);
    let html = read(&dir, "all.html");
    let of = |id: &str| -> Vec<Vec<String>> {
        let table = html.split(&format!("id=\"{id}\"")).nth(1).unwrap_or_else(|| panic!("{id}"));
        let rows = table.split("</table>").next().unwrap().split("<tr>").skip(2);
        let keys = |row: &str| {
            row.split("data-k=\"").skip(1).map(|k| k.split('"').next().unwrap().to_owned()).collect()
        };
        rows.map(keys).collect()
    };
    let ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let tables = |start: &str| -> Vec<&str> {
        ids.iter().copied().filter(|id| id.starts_with(start) && id.ends_with("-table")).collect()
    };
    assert_eq!(tables("worst-case").len(), 2, "{ids:?}");
    for (result, id) in wcet["results"].as_array().unwrap().iter().zip(tables("worst-case")) {
        let rows = of(id);
        let methods = result["methods"].as_array().unwrap();
        assert_eq!(rows.len(), methods.len(), "{id}");
        for (row, method) in rows.iter().zip(methods) {
            if let Some(value) = method["value"].as_u64() {
                assert!(row.contains(&value.to_string()), "{method}: {row:?}");
            }
        }
    }
    assert!(html.contains("No run takes longer than a proved bound"));
    let html = html.split("id=\"bounds-table\"").nth(1).unwrap().split("</table>").next().unwrap();
    for row in bounds["results"][0]["bounds"].as_array().unwrap() {
        assert!(html.contains(&format!(">{}</td>", row["name"].as_str().unwrap())), "{row}");
    }
    assert!(html.contains(">static</td>"));
    // an invalid value
    let broken = read(&dir, "wcet.json").replacen("\"runs\":2", "\"runs\":-2", 1);
    std::fs::write(dir.join("broken.json"), broken).unwrap();
    let message = refused(&dir, &["report", "broken.json", "--out", "broken.html"]);
    assert!(message.contains("broken.json"), "{message}");
    assert!(!dir.join("broken.html").exists());
}
