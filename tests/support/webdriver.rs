//! A browser that is controlled by the W3C's WebDriver protocol: JSON over HTTP on this machine.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The timeout of every operation of the browser.
const PATIENCE: Duration = Duration::from_secs(120);

/// Chromium with a window, and the ChromeDriver that controls it; dropping the value ends both.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Whether pages run scripts.
    scripts: Cell<bool>,
}

impl Browser {
    /// Starts both; `profile` is an empty folder.
    pub fn start(profile: &Path) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (Debian packages chromium, chromium-driver)");
        let mut lines = BufReader::new(driver.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "chromedriver ended");
            if let Some((_, port)) = line.rsplit_once("successfully on port ") {
                break port.trim().trim_end_matches('.').parse().unwrap();
            }
        };
        // the driver keeps writing, and would block if its output were not read
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let mut browser = Self { driver, port, session: String::new(), scripts: Cell::new(true) };
        let data = format!("--user-data-dir={}", profile.display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--allow-file-access-from-files",
            &data,
        ];
        let answer = browser.call(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"args": flags},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }}}),
        );
        browser.session = answer["sessionId"].as_str().expect("a session").to_owned();
        // the browser's start page is not part of the test
        browser.post("url", json!({"url": "about:blank"}));
        browser.painted();
        let _ = (browser.console(), browser.requests());
        browser
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = BufReader::new(stream);
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            answer.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).unwrap();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let value = answer["value"].clone();
        assert!(value.get("error").is_none_or(Value::is_null), "{method} {path}: {value}");
        value
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.call("POST", &format!("/session/{}/{path}", self.session), &body)
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.post("url", json!({"url": format!("file://{}", path.display())}));
    }

    /// Sets whether pages that are opened from now on may run scripts of their own.
    pub fn allow_scripts(&self, allow: bool) {
        self.scripts.set(allow);
        let params = json!({"value": !allow});
        self.post(
            "goog/cdp/execute",
            json!({"cmd": "Emulation.setScriptExecutionDisabled", "params": params}),
        );
    }

    /// Returns the value of a script, which contains a `return`.
    pub fn script(&self, script: &str) -> Value {
        self.post("execute/sync", json!({"script": script, "args": []}))
    }

    /// Returns the number that a script returns.
    pub fn number(&self, script: &str) -> f64 {
        self.script(script).as_f64().unwrap_or_else(|| panic!("{script} gives no number"))
    }

    /// Returns the text that a script returns.
    pub fn text(&self, script: &str) -> String {
        self.script(script).as_str().unwrap_or_else(|| panic!("{script} gives no text")).to_owned()
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("element", json!({"using": "css selector", "value": css}));
        found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned()
    }

    /// Clicks on the first element that matches.
    pub fn click(&self, css: &str) {
        let element = self.element(css);
        self.post(&format!("element/{element}/click"), json!({}));
    }

    /// Types into the first element that matches.
    pub fn keys(&self, css: &str, keys: &str) {
        let element = self.element(css);
        self.post(&format!("element/{element}/value"), json!({"text": keys}));
    }

    /// Moves the pointer through points in the window, pressed or not, and waits for the page to
    /// paint.
    pub fn pointer(&self, places: &[(f64, f64)], pressed: bool) {
        let mut actions = Vec::new();
        for (index, (x, y)) in places.iter().enumerate() {
            actions.push(
                json!({"type": "pointerMove", "duration": 20, "x": x.round() as i64, "y": y.round() as i64}),
            );
            if pressed && index == 0 {
                actions.push(json!({"type": "pointerDown", "button": 0}));
            }
        }
        if pressed {
            actions.push(json!({"type": "pointerUp", "button": 0}));
        }
        self.post("actions", json!({"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]}));
        self.painted();
    }

    /// Turns the mouse wheel at a point in the window.
    pub fn wheel(&self, (x, y): (f64, f64), by: i32) {
        let turn = json!({"type": "scroll", "x": x.round() as i64, "y": y.round() as i64, "deltaX": 0, "deltaY": by, "duration": 0});
        self.post("actions", json!({"actions": [{"type": "wheel", "id": "wheel", "actions": [turn]}]}));
        self.painted();
    }

    /// Waits until the requested changes have been painted; without scripts, it does not wait.
    pub fn painted(&self) {
        if !self.scripts.get() {
            return;
        }
        let script =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)));";
        self.post("execute/async", json!({"script": script, "args": []}));
    }

    /// Sets the size of the page.
    pub fn resize(&self, width: u32, height: u32) {
        self.post("window/rect", json!({"width": width, "height": height}));
        self.painted();
    }

    /// Saves a screenshot.
    pub fn screenshot(&self, path: &Path) {
        let png = self.call("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        std::fs::write(path, base64(png.as_str().unwrap())).unwrap();
    }

    /// Saves the page as it is printed.
    pub fn print(&self, path: &Path) {
        let pdf = self.post("print", json!({"background": true}));
        std::fs::write(path, base64(pdf.as_str().unwrap())).unwrap();
    }

    /// Returns the messages on the console since the last call.
    pub fn console(&self) -> Vec<String> {
        let entries = self.post("se/log", json!({"type": "browser"}));
        entries.as_array().unwrap().iter().map(Value::to_string).collect()
    }

    /// Returns the addresses of all requests since the last call.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.post("se/log", json!({"type": "performance"}));
        let messages = entries.as_array().unwrap().iter().map(|entry| {
            serde_json::from_str::<Value>(entry["message"].as_str().unwrap()).unwrap()["message"].clone()
        });
        let sent = messages.filter(|message| message["method"] == "Network.requestWillBeSent");
        sent.map(|message| message["params"]["request"]["url"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        // the browser ends with its driver
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Returns the bytes that base64 text encodes.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut value = [0xff; 256];
    DIGITS.iter().enumerate().for_each(|(index, digit)| value[usize::from(*digit)] = index as u8);
    let bits: Vec<u8> = text.bytes().map(|byte| value[usize::from(byte)]).filter(|bits| *bits < 64).collect();
    let of_four = |four: &[u8]| {
        let word =
            four.iter().fold(0u32, |word, bits| word << 6 | u32::from(*bits)) << (6 * (4 - four.len()));
        let bytes = word.to_be_bytes();
        bytes[1..four.len()].to_vec()
    };
    bits.chunks(4).flat_map(of_four).collect()
}
