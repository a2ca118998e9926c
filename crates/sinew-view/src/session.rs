//! A client: the frames and changes that wait for its threads, and its requests.
//!
//! | role | does |
//! |---|---|
//! | reader, one thread | reads the client's requests; adds changes of subscriptions, and answers |
//! | writer, one thread | sends what waits, and messages of ready subscriptions from where they lie |
//! | publishers, receivers | announce by a listener that a subscription has messages |
//! | answering threads | add responses of services |
//! | the hub | adds offers and statuses |
//!
//! Messages wait in the histories of the client's own subscriptions, so they are bounded, the
//! newest win, and no publisher waits. Everything else waits here, up to a number of bytes, or of
//! changes; a client that doesn't read it is disconnected.

use crate::catalogue::Channel;
use crate::job::Job;
use crate::socket::{FrameKind, POLICY};
use crate::wire::{Level, ServerText};
use sinew::__private::locks::{Condvar, Mutex};
use sinew::QoS;
use sinew::service::RequestId;
use sinew::time::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Memory of frames other than messages that may wait, in bytes.
const MOST_WAITING: usize = 64 << 20;

/// Memory of a frame that waits besides its bytes: its place in the list, which may have as much to
/// spare, and the allocator's own.
const FRAME: usize = 2 * size_of::<Frame>() + 16;

/// Changes of subscriptions that may wait.
const MOST_CHANGES: usize = 8192;

/// Parameters of which a client may want to know changes.
const MOST_PARAMETERS: usize = 8192;

/// Jobs that may wait for the thread for parameters.
const MOST_JOBS: usize = 8;

/// Calls of services that may wait for their responses.
const MOST_CALLS: usize = 64;

/// Time after which a call has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) type GenericClient = sinew::Client<sinew::service::GenericService>;

/// A frame that waits.
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) bytes: Vec<u8>,
}

/// A change of the client's subscriptions.
pub(crate) enum Change {
    Subscribe {
        id: u32,
        channel: Arc<Channel>,
        qos: QoS,
    },
    Unsubscribe {
        id: u32,
    },
    /// These channels are gone.
    Gone {
        channels: Vec<u32>,
    },
    /// A channel has a publisher that offers less than was requested.
    Request {
        channel: u32,
        qos: QoS,
    },
}

/// A call of a service that is not answered yet.
struct Call {
    service: u32,
    id: u32,
    name: String,
    /// Steady nanoseconds.
    deadline: i64,
    /// For taking back a request that no server has taken.
    request: Option<(GenericClient, RequestId)>,
}

#[derive(Default)]
struct State {
    frames: Vec<Frame>,
    /// Memory of the frames.
    bytes: usize,
    /// The answer to the last ping. One is enough (RFC 6455, 5.5.3), however many pings come.
    pong: Option<Vec<u8>>,
    changes: Vec<Change>,
    /// Subscriptions with messages.
    ready: BTreeSet<u32>,
    has_clock: bool,
    /// The code with which the connection ends.
    end: Option<u16>,
    calls: BTreeMap<u64, Call>,
    last_call: u64,
    jobs: VecDeque<Job>,
    /// Parameters with changes that the client wants to know.
    parameters: BTreeSet<String>,
    /// The text about the graph that was sent last, empty at first; `None`: none is wanted.
    graph: Option<Arc<str>>,
}

impl State {
    fn take_frames(&mut self) -> Vec<Frame> {
        self.bytes = 0;
        let mut frames = std::mem::take(&mut self.frames);
        frames.extend(self.pong.take().map(|bytes| Frame { kind: FrameKind::Pong, bytes }));
        frames
    }
}

/// A client.
pub(crate) struct Session {
    pub(crate) number: u64,
    stream: Arc<TcpStream>,
    state: Mutex<State>,
    /// Wakes the writer.
    news: Condvar,
}

/// The next work of the writer.
#[derive(Default)]
pub(crate) struct Turn {
    pub(crate) changes: Vec<Change>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) ready: BTreeSet<u32>,
    pub(crate) has_clock: bool,
    pub(crate) end: Option<u16>,
}

impl Session {
    pub(crate) fn new(number: u64, stream: Arc<TcpStream>) -> Self {
        Self { number, stream, state: Mutex::default(), news: Condvar::new() }
    }

    // ---- the writer ----

    /// Takes the next work; waits for it for `timeout` at most.
    pub(crate) fn wait(&self, timeout: Duration) -> Turn {
        let mut state = self.state.lock();
        let State { frames, pong, changes, ready, has_clock, end, .. } = &*state;
        let has_frames = !frames.is_empty() || pong.is_some();
        if !has_frames && changes.is_empty() && ready.is_empty() && !has_clock && end.is_none() {
            self.news.wait_for(&mut state, timeout);
        }
        Turn {
            changes: std::mem::take(&mut state.changes),
            frames: state.take_frames(),
            ready: std::mem::take(&mut state.ready),
            has_clock: std::mem::take(&mut state.has_clock),
            end: state.end,
        }
    }

    /// Takes the frames that wait.
    pub(crate) fn take_frames(&self) -> Vec<Frame> {
        self.state.lock().take_frames()
    }

    /// Says that these subscriptions have more messages.
    pub(crate) fn ready_again(&self, ids: impl Iterator<Item = u32>) {
        self.state.lock().ready.extend(ids);
    }

    /// Ends reading and writing. A frame that is being written is lost.
    pub(crate) fn disconnect(&self) {
        let _ = self.stream.shutdown(Shutdown::Both); // fails if the client has gone
    }

    // ---- any thread ----

    /// Announces messages of a subscription.
    pub(crate) fn ready(&self, id: u32) {
        if self.state.lock().ready.insert(id) {
            self.news.notify_one();
        }
    }

    /// Announces a new simulated time.
    pub(crate) fn clock_ready(&self) {
        self.state.lock().has_clock = true;
        self.news.notify_one();
    }

    /// Adds a change of subscriptions. A client for which too many wait is disconnected.
    pub(crate) fn change(&self, change: Change) {
        let mut state = self.state.lock();
        if state.end.is_some() {
            return;
        }
        if state.changes.len() >= MOST_CHANGES {
            state.end = Some(POLICY);
            drop(state);
            return self.disconnect(); // the writer is stuck
        }
        state.changes.push(change);
        drop(state);
        self.news.notify_one();
    }

    /// Adds a frame. A client that leaves too much unread is disconnected.
    pub(crate) fn send(&self, kind: FrameKind, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        if state.end.is_some() {
            return;
        }
        let memory = bytes.len() + FRAME;
        if state.bytes > 0 && state.bytes + memory > MOST_WAITING {
            state.end = Some(POLICY);
            drop(state);
            return self.disconnect(); // the writer is stuck
        }
        state.bytes += memory;
        state.frames.push(Frame { kind, bytes });
        drop(state);
        self.news.notify_one();
    }

    /// Answers a ping, in the place of an answer that waits.
    pub(crate) fn pong(&self, bytes: Vec<u8>) {
        self.state.lock().pong = Some(bytes);
        self.news.notify_one();
    }

    pub(crate) fn send_text(&self, text: String) {
        self.send(FrameKind::Text, text.into_bytes());
    }

    /// Shows a sentence to the person at the viewer.
    pub(crate) fn status(&self, level: Level, message: &str, id: Option<&str>) {
        self.send_text(ServerText::Status { level, message, id }.to_json());
    }

    /// Ends the connection with a close frame, once the writer gets to it.
    pub(crate) fn end(&self, code: u16) {
        self.state.lock().end.get_or_insert(code);
        self.news.notify_one();
    }

    /// Returns whether the connection ends or has ended.
    pub(crate) fn is_ending(&self) -> bool {
        self.state.lock().end.is_some()
    }

    pub(crate) fn set_wants_graph(&self, wanted: bool) {
        self.state.lock().graph = wanted.then(Arc::default);
    }

    /// Sends the graph if the client wants it and doesn't have it.
    pub(crate) fn send_graph(&self, text: &Arc<str>) {
        let is_new = match &mut self.state.lock().graph {
            Some(last) if last != text => {
                *last = text.clone();
                true
            }
            _ => false,
        };
        if is_new {
            self.send_text(text.to_string());
        }
    }

    // ---- parameters ----

    /// Adds a job. Returns whether it is the only one: then the client has to be put into the queue of
    /// the thread for parameters.
    ///
    /// # Errors
    /// The problem as a sentence, if too many wait.
    pub(crate) fn add_job(&self, job: Job) -> Result<bool, String> {
        let jobs = &mut self.state.lock().jobs;
        if jobs.len() >= MOST_JOBS {
            return Err(format!(
                "a request for parameters is dropped: {MOST_JOBS} of this viewer wait for slow nodes"
            ));
        }
        jobs.push_back(job);
        Ok(jobs.len() == 1)
    }

    /// Takes the next job; returns it, and whether there are more.
    pub(crate) fn take_job(&self) -> Option<(Job, bool)> {
        let jobs = &mut self.state.lock().jobs;
        Some((jobs.pop_front()?, !jobs.is_empty()))
    }

    /// Adds parameters to those of which the client wants to know changes.
    pub(crate) fn watch_parameters(&self, names: Vec<String>) {
        let mut refused = None;
        let mut state = self.state.lock();
        for name in names {
            if state.parameters.len() < MOST_PARAMETERS || state.parameters.contains(&name) {
                state.parameters.insert(name);
            } else {
                refused.get_or_insert(name);
            }
        }
        drop(state);
        if let Some(first) = refused {
            let problem = format!("a client may watch {MOST_PARAMETERS} parameters: {first} is one too many");
            self.status(Level::Error, &problem, None);
        }
    }

    pub(crate) fn forget_parameters(&self, names: &[String]) {
        let mut state = self.state.lock();
        names.iter().for_each(|name| drop(state.parameters.take(name)));
    }

    pub(crate) fn watches_parameter(&self, name: &str) -> bool {
        self.state.lock().parameters.contains(name)
    }

    // ---- calls of services ----

    /// Begins a call; `None` if too many wait for their responses.
    pub(crate) fn begin_call(&self, service: u32, id: u32, name: &str) -> Option<u64> {
        let deadline =
            Time::steady().nanoseconds() + i64::try_from(CALL_TIMEOUT.as_nanos()).unwrap_or(i64::MAX);
        let mut state = self.state.lock();
        if state.calls.len() >= MOST_CALLS {
            return None;
        }
        state.last_call += 1;
        let key = state.last_call;
        state.calls.insert(key, Call { service, id, name: name.to_owned(), deadline, request: None });
        Some(key)
    }

    /// Notes the request of a call, unless that has ended.
    pub(crate) fn note_request(&self, key: u64, client: &GenericClient, request: RequestId) {
        if let Some(call) = self.state.lock().calls.get_mut(&key) {
            call.request = Some((client.clone(), request));
        }
    }

    /// Ends a call; sends its response. A call that has failed before gets none.
    pub(crate) fn end_call(&self, key: u64, outcome: Result<(&str, &[u8]), &str>) {
        let ended = self.state.lock().calls.remove(&key);
        let Some(Call { service, id, .. }) = &ended else { return };
        match outcome {
            Ok((encoding, bytes)) => {
                self.send(FrameKind::Binary, crate::wire::response(*service, *id, encoding, bytes));
            }
            Err(message) => self.fail_call(*service, *id, message),
        }
    }

    pub(crate) fn fail_call(&self, service_id: u32, call_id: u32, message: &str) {
        self.send_text(ServerText::ServiceCallFailure { service_id, call_id, message }.to_json());
    }

    /// Ends the calls that have waited for too long.
    pub(crate) fn expire_calls(&self) {
        let now = Time::steady().nanoseconds();
        let expired: Vec<Call> = {
            let mut state = self.state.lock();
            state.calls.extract_if(.., |_, call| call.deadline <= now).map(|(_, call)| call).collect()
        };
        for call in expired {
            if let Some((client, request)) = &call.request {
                drop(client.withdraw(*request));
            }
            let message = format!("{} didn't answer within {CALL_TIMEOUT:?}", call.name);
            self.fail_call(call.service, call.id, &message);
        }
    }

    /// Forgets the jobs and calls of a client that has gone, and takes back the requests of calls.
    pub(crate) fn forget_requests(&self) {
        let (jobs, calls) = {
            let mut state = self.state.lock();
            (std::mem::take(&mut state.jobs), std::mem::take(&mut state.calls))
        };
        drop(jobs);
        for (client, request) in calls.into_values().filter_map(|call| call.request) {
            drop(client.withdraw(request));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener;

    #[test]
    fn a_client_watches_a_limited_number_of_parameters() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let session = Session::new(1, Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
        let names = |count: usize| (0..count).map(|number| format!("/a.{number:05}")).collect();
        session.watch_parameters(names(MOST_PARAMETERS));
        session.watch_parameters(names(MOST_PARAMETERS)); // known ones are no further ones
        assert!(session.wait(Duration::ZERO).frames.is_empty());
        session.watch_parameters(names(MOST_PARAMETERS + 2));
        let frames = session.wait(Duration::ZERO).frames;
        let text = String::from_utf8(frames[0].bytes.clone()).unwrap();
        assert!(frames.len() == 1 && text.contains("8192 parameters: /a.08192 is one"), "{text}");
        session.forget_parameters(&["/a.00000".to_owned()]);
        session.watch_parameters(vec!["/b".to_owned()]);
        assert!(session.watches_parameter("/b") && !session.watches_parameter("/a.00000"));
    }

    #[test]
    fn jobs_of_a_client_wait_in_their_order_up_to_a_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let session = Session::new(1, Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
        let add = |name: usize| session.add_job(Job::Watch { names: vec![name.to_string()] });
        let take = || match session.take_job() {
            Some((Job::Watch { names }, has_more)) => Some((names[0].clone(), has_more)),
            _ => None,
        };
        assert_eq!(take(), None);
        assert_eq!((0..MOST_JOBS).map(add).collect::<Vec<_>>()[..2], [Ok(true), Ok(false)]);
        assert!(add(8).unwrap_err().contains("8 of this viewer wait"));
        assert_eq!(take(), Some(("0".to_owned(), true)));
        assert_eq!(add(8), Ok(false));
        let rest: Vec<_> = std::iter::from_fn(take).collect();
        assert_eq!((rest.len(), &rest[7]), (8, &("8".to_owned(), false)));
        assert_eq!(add(9), Ok(true));
        session.forget_requests();
        assert_eq!(take(), None);
    }

    #[test]
    fn a_client_that_leaves_too_many_frames_unread_is_disconnected() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let session = Session::new(1, Arc::new(listener.accept().unwrap().0));
        // Empty ones take memory as well.
        (0..MOST_WAITING / FRAME).for_each(|_| session.send(FrameKind::Text, Vec::new()));
        assert_eq!(session.state.lock().end, None);
        session.send(FrameKind::Text, Vec::new());
        let Turn { frames, end, .. } = session.wait(Duration::ZERO);
        assert_eq!((frames.len(), end), (MOST_WAITING / FRAME, Some(POLICY)));
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn the_last_ping_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let session = Session::new(1, Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
        (0..3).for_each(|number| session.pong(vec![number]));
        session.send_text("a".to_owned());
        let frames = session.wait(Duration::ZERO).frames;
        let frames: Vec<_> = frames.into_iter().map(|frame| (frame.kind, frame.bytes)).collect();
        assert_eq!(frames, [(FrameKind::Text, b"a".to_vec()), (FrameKind::Pong, vec![2])]);
        assert!(session.wait(Duration::ZERO).frames.is_empty());
    }

    #[test]
    fn a_client_for_which_too_many_changes_wait_is_disconnected() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let session = Session::new(1, Arc::new(listener.accept().unwrap().0));
        (0..MOST_CHANGES).for_each(|_| session.change(Change::Unsubscribe { id: 1 }));
        assert_eq!(session.state.lock().end, None);
        session.change(Change::Unsubscribe { id: 1 });
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        let Turn { changes, end, .. } = session.wait(Duration::ZERO);
        assert_eq!((changes.len(), end), (MOST_CHANGES, Some(POLICY)));
    }
}
