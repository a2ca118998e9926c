//! Three hosts on one computer: the traffic that discovery causes, and the time it takes.
//!
//! Each host is a network namespace with an address of its own, a router and a third of the
//! programs. It runs twice: with one gateway per host, and with a session in each program, as in
//! rmw_zenoh. Needs Linux, root and `ip` of iproute2:
//!
//! ```sh
//! cargo run --release -p sinew-zenoh --example hosts
//! cargo run --release -p sinew-zenoh --example hosts -- 20   # programs
//! ```
//!
//! Everything that it creates is gone when it ends; after a `kill -9`, `ip netns` lists the
//! remains.

use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::{Gateway, Router};
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const HOSTS: usize = 3;
const DOMAIN: u32 = 7;
/// Longest time until every program sees all others.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time of counting the traffic while nothing happens.
const QUIET: Duration = Duration::from_secs(10);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["router", host] => router(host.parse()?),
        ["gateway", place] => gateway(Path::new(place)),
        ["program", number, of, place, has_session] => {
            program((number.parse()?, of.parse()?), Path::new(place), has_session == "session")
        }
        _ => measure(words.first().map_or(Ok(20), |word| word.parse())?),
    }
}

// ---- the processes on the hosts ----

fn nothing_set(_: &str) -> Option<String> {
    None
}

fn address(host: usize) -> String {
    format!("10.77.0.{}", host + 1)
}

/// Starts a router that is connected with those of the hosts before it.
fn router(host: usize) -> Result<()> {
    let mut options = SessionOptions::default();
    options.listen = vec!["tcp/127.0.0.1:7447".to_owned(), format!("tcp/{}:7447", address(host))];
    options.connect = (0..host).map(|other| format!("tcp/{}:7447", address(other))).collect();
    let _router = Router::start(&nothing_set, &options)?;
    until_told_to_end()
}

/// Starts a gateway with the defaults: it finds its host's router by itself.
fn start_gateway(context: &Context) -> Result<Gateway> {
    Ok(Gateway::builder().start_with(context, &nothing_set)?)
}

fn gateway(place: &Path) -> Result<()> {
    let context = Context::builder().domain(DOMAIN).directory(place).build()?;
    let _gateway = start_gateway(&context)?;
    until_told_to_end()
}

/// Reports whenever it begins or ceases to see all other programs.
fn program((number, of): (usize, usize), place: &Path, has_session: bool) -> Result<()> {
    let context = Context::builder().domain(DOMAIN).directory(place).build()?;
    let _gateway = if has_session { Some(start_gateway(&context)?) } else { None };
    let node = context.node(&format!("program_{number}"))?;
    let to_all = node.publisher::<Text>("/all").create()?;
    let from_all = node.subscription::<Text>("/all").create()?;
    let mut ends: Vec<Box<dyn std::any::Any>> = Vec::new();
    for topic in ["state", "command", "image", "log"] {
        ends.push(Box::new(node.publisher::<Text>(&format!("~/{topic}")).create()?));
        ends.push(Box::new(
            node.subscription::<Text>(&format!("/program_{}/{topic}", (number + 1) % of)).create()?,
        ));
    }
    ends.push(Box::new(
        node.server::<AddTwoInts>("~/add")
            .callback(|request: AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b })?,
    ));
    ends.push(Box::new(node.client::<AddTwoInts>(&format!("/program_{}/add", (number + 1) % of)).create()?));
    std::thread::spawn(move || {
        let mut saw_all = false;
        loop {
            let sees_all = to_all.subscription_count() == of && from_all.publisher_count() == of;
            if sees_all != saw_all {
                saw_all = sees_all;
                println!("{} {}", u8::from(sees_all), Time::steady().nanoseconds());
            }
            pause(Duration::from_millis(5));
        }
    });
    until_told_to_end()
}

/// Waits until the process that started it closes the other end.
fn until_told_to_end() -> Result<()> {
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "real time is what is measured")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

// ---- hosts ----

fn ip(words: &str) -> Result<()> {
    let output = Command::new("ip").args(words.split(' ')).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}

/// Namespaces of three hosts, and another one with the switch between them.
struct Network {
    prefix: String,
}

impl Network {
    fn new() -> Result<Self> {
        let network = Self { prefix: format!("sinew{}", std::process::id()) };
        let switch = network.switch();
        ip(&format!("netns add {switch}"))?;
        ip(&format!("-n {switch} link add switch type bridge"))?;
        ip(&format!("-n {switch} link set switch up"))?;
        for host in 0..HOSTS {
            let name = network.host(host);
            ip(&format!("netns add {name}"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link add net0 type veth peer name port{host} netns {switch}"))?;
            ip(&format!("-n {name} addr add {}/24 dev net0", address(host)))?;
            ip(&format!("-n {name} link set net0 up"))?;
            ip(&format!("-n {switch} link set port{host} master switch up"))?;
        }
        Ok(network)
    }

    fn host(&self, host: usize) -> String {
        format!("{}-{host}", self.prefix)
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.prefix)
    }

    fn cut(&self, host: usize, is_cut: bool) -> Result<()> {
        ip(&format!("-n {} link set port{host} {}", self.switch(), if is_cut { "down" } else { "up" }))
    }

    /// Returns the bytes and packets that hosts have sent to each other.
    fn traffic(&self) -> Result<[u64; 2]> {
        let mut sums = [0; 2];
        for host in 0..HOSTS {
            for (sum, what) in sums.iter_mut().zip(["rx_bytes", "rx_packets"]) {
                let file = format!("/sys/class/net/port{host}/statistics/{what}");
                let words = ["netns", "exec", &self.switch(), "cat", &file];
                let output = Command::new("ip").args(words).output()?;
                *sum += String::from_utf8(output.stdout)?.trim().parse::<u64>()?;
            }
        }
        Ok(sums)
    }

    /// Returns the number of connections that a host's programs have with each other and with other
    /// hosts.
    fn connections(&self, host: usize) -> Result<usize> {
        let output = Command::new("ip")
            .args(["netns", "exec", &self.host(host), "cat", "/proc/net/tcp", "/proc/net/tcp6"])
            .output()?;
        let table = String::from_utf8(output.stdout)?;
        // A connection within the host has both ends here; one to another host has its other end
        // there.
        Ok(table.lines().filter(|line| line.split_whitespace().nth(3) == Some("01")).count())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (0..HOSTS).map(|host| self.host(host)).chain([self.switch()]) {
            let _ = ip(&format!("netns delete {name}")); // fails if it wasn't created
        }
    }
}

/// A process on a host; dropping this ends it.
struct Running(Child);

impl Running {
    fn start(
        network: &Network,
        host: usize,
        words: &[&str],
        told: Option<(usize, Sender<Told>)>,
    ) -> Result<Self> {
        let name = network.host(host);
        let mut child = Command::new("ip")
            .args(["netns", "exec", &name])
            .arg(std::env::current_exe()?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let (Some((number, told)), Some(output)) = (told, child.stdout.take()) {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                    let mut words = line.split(' ').filter_map(|word| word.parse().ok());
                    let (Some(sees_all), Some(at)) = (words.next(), words.next()) else { continue };
                    let told = told.send(Told { number, sees_all: sees_all == 1_i64, at });
                    if told.is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self(child))
    }

    /// Returns the memory that no other process shares, in kB, and the number of threads.
    fn usage(&self) -> Result<[u64; 2]> {
        let read = |file: &str, word: &str| -> Result<u64> {
            let text = std::fs::read_to_string(format!("/proc/{}/{file}", self.0.id()))?;
            let of = |line: &str| line.strip_prefix(word)?.split_whitespace().next()?.parse::<u64>().ok();
            Ok(text.lines().filter_map(of).sum())
        };
        Ok([read("smaps_rollup", "Private_Dirty:")?, read("status", "Threads:")?])
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait(); // fails only if it wasn't started
    }
}

/// A program began or ceased to see all others.
struct Told {
    number: usize,
    sees_all: bool,
    at: i64,
}

/// The programs that see all others.
struct Seen {
    told: Receiver<Told>,
    see_all: Vec<bool>,
}

impl Seen {
    /// Waits until `count` programs see all others. Returns the time at which the last of them did.
    fn wait_for(&mut self, count: usize, timeout: Duration) -> Result<i64> {
        let end = Time::steady() + timeout;
        let mut last = 0;
        loop {
            let now = self.see_all.iter().filter(|sees| **sees).count();
            if now == count && last > 0 {
                return Ok(last);
            }
            let Ok(told) = self.told.recv_timeout((end - Time::steady()).max(Duration::from_nanos(1))) else {
                return Err(
                    format!("{now} of {} programs see all, after {timeout:?}", self.see_all.len()).into()
                );
            };
            self.see_all[told.number] = told.sees_all;
            last = told.at;
        }
    }
}

// ---- measurements ----

fn measure(programs: usize) -> Result<()> {
    println!("| {programs} programs on {HOSTS} hosts | a gateway on each host | a session in each program |");
    println!("|---|---|---|");
    let columns = [round(programs, false)?, round(programs, true)?];
    for ((name, gateways), (_, sessions)) in columns[0].iter().zip(&columns[1]) {
        println!("| {name} | {gateways} | {sessions} |");
    }
    Ok(())
}

fn round(programs: usize, has_sessions: bool) -> Result<Vec<(String, String)>> {
    let network = Network::new()?;
    let place = tempfile::tempdir_in("/dev/shm")?;
    let mut running = Vec::new();
    let directory = |name: String| -> Result<String> {
        let path = place.path().join(name);
        std::fs::create_dir(&path)?;
        Ok(path.to_str().ok_or("a directory whose name is no text")?.to_owned())
    };
    let mut directories = Vec::new();
    for host in 0..HOSTS {
        running.push(Running::start(&network, host, &["router", &host.to_string()], None)?);
        directories.push(directory(format!("host{host}"))?);
    }
    pause(Duration::from_secs(3));
    if !has_sessions {
        for (host, directory) in directories.iter().enumerate() {
            running.push(Running::start(&network, host, &["gateway", directory], None)?);
        }
        pause(Duration::from_secs(2));
    }
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));

    let before = network.traffic()?;
    let begin = Time::steady().nanoseconds();
    let (to, told) = mpsc::channel();
    for number in 0..programs {
        let host = number % HOSTS;
        let own = directory(format!("program{number}"))?;
        let (place, session) = if has_sessions { (&own, "session") } else { (&directories[host], "none") };
        let words = ["program", &number.to_string(), &programs.to_string(), place, session];
        running.push(Running::start(&network, host, &words, Some((number, to.clone())))?);
    }
    let mut seen = Seen { told, see_all: vec![false; programs] };
    let since = |at: i64, begin: i64| format!("{:.2} s", (at - begin) as f64 / 1e9);
    let all = seen.wait_for(programs, PATIENCE)?;
    row("all started to all see all", since(all, begin));
    pause(Duration::from_secs(2)); // later traffic still belongs to it
    let found = network.traffic()?;
    row("bytes between the hosts for that", format!("{} kB", (found[0] - before[0]) / 1000));
    row("packets", (found[1] - before[1]).to_string());

    pause(QUIET);
    let quiet = network.traffic()?;
    row(
        "bytes a second between the hosts with nothing to do",
        format!("{:.0}", (quiet[0] - found[0]) as f64 / QUIET.as_secs_f64()),
    );
    let connections: Result<Vec<usize>> = (0..HOSTS).map(|host| network.connections(host)).collect();
    row("ends of TCP connections", connections?.iter().sum::<usize>().to_string());
    let mut usage = [0; 2];
    for process in &running {
        let of_process = process.usage()?;
        usage[0] += of_process[0];
        usage[1] += of_process[1];
    }
    row("memory of all processes, not shared", format!("{} MB", usage[0] / 1000));
    row("threads", usage[1].to_string());

    let before = network.traffic()?;
    let begin = Time::steady().nanoseconds();
    network.cut(HOSTS - 1, true)?;
    let none = seen.wait_for(0, PATIENCE)?;
    row("the link of one host is cut until no program sees all", since(none, begin));
    let begin = Time::steady().nanoseconds();
    network.cut(HOSTS - 1, false)?;
    let all = seen.wait_for(programs, PATIENCE)?;
    row("the link is back to all see all", since(all, begin));
    pause(Duration::from_secs(2));
    row("bytes for that", format!("{} kB", (network.traffic()?[0] - before[0]) / 1000));
    while running.pop().is_some() {} // programs first, routers last
    Ok(rows)
}
