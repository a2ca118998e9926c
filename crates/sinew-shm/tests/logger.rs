//! A program's logger that publishes the messages it gets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_types, reason = "no loom here, and a logger is a static")]

use log::{LevelFilter, Log, Metadata, Record};
use sinew_shm::Domain;
use sinew_shm::raw::{Queue, QueueOptions, Space};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

struct Publishes {
    queue: Mutex<Option<Queue<u64>>>,
    observed: Mutex<Option<Sender<String>>>,
}

static LOGGER: Publishes = Publishes { queue: Mutex::new(None), observed: Mutex::new(None) };

impl Log for Publishes {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        if let Some(observed) = &*self.observed.lock().unwrap() {
            let _ = observed.send(record.args().to_string());
        }
        if let Some(queue) = &*self.queue.lock().unwrap() {
            let _ = queue.write_within(&0, Duration::ZERO);
        }
    }

    fn flush(&self) {}
}

#[test]
fn a_logger_that_writes_to_the_queue_that_it_logs_about_is_not_stuck() {
    log::set_logger(&LOGGER).unwrap();
    log::set_max_level(LevelFilter::Warn);
    let (sender, has_written) = channel();
    let (lines, observed) = channel();
    *LOGGER.observed.lock().unwrap() = Some(lines);
    std::thread::spawn(move || {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(directory.path()), 0).unwrap();
        let (here, there) = (Space::join(&domain).unwrap(), Space::join(&domain).unwrap());
        let options = QueueOptions { capacity: 1, patience: Some(Duration::from_millis(1)) };
        let queue = Queue::<u64>::open_with(&here, "q", &options).unwrap();
        *LOGGER.queue.lock().unwrap() = Some(Queue::open_with(&here, "q", &options).unwrap());
        let mut hung = Queue::<u64>::open_with(&there, "q", &options).unwrap();
        hung.join().unwrap();
        for number in 0..4 {
            queue.write_within(&number, Duration::from_secs(60)).unwrap();
        }
        let its = LOGGER.queue.lock().unwrap().take();
        // Messages that the helper threads haven't written yet are written now, or are about to be.
        drop((its, queue, hung, here, there));
        sender.send(()).unwrap();
    });
    has_written.recv_timeout(Duration::from_secs(60)).expect("it writes on");
    let text = observed.recv_timeout(Duration::from_secs(60)).expect("it is said");
    assert!(text.contains("is cut off from `q`"), "{text}");
    assert_eq!(observed.try_iter().collect::<Vec<_>>(), [""; 0], "once");
}
