//! The server as programs hold it.

use crate::catalogue::MOST_RETAINED;
use crate::error::ViewError;
use crate::hub::{Hub, ViewStatistics};
use crate::parameters::Parameters;
use crate::playback::Playback;
use crate::pump::Pump;
use crate::requests::{READ_TIMEOUT, Requests};
use crate::settings::{Settings, TypeDefinition};
use crate::socket::{Inlet, Outlet, shake_hands};
use sinew::Context;
use sinew::graph::GraphListener;
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew_bag::Player;
use std::fmt;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The port that viewers try.
const PORT: u16 = 8765;

/// Time for a client to read the rest, the close frame included, when its connection ends.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(1);

/// Pause after a connection that wasn't accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server through which Foxglove, Lichtblick and other viewers of their protocol look at a
/// context's domain.
///
/// A topic is subscribed to only while a client is subscribed to it, and messages are sent in their
/// encoded form from where they lie. Each client has subscriptions of its own, with histories of a
/// limited [depth](ViewServerBuilder::depth): for a slow client the newest messages win, the others
/// are counted, and neither publishers nor other clients wait for it.
///
/// By default only viewers of this host connect, and they may only look. It runs on threads of its
/// own (`sinew-view-..`, two for each client), and needs no executor. Dropping it disconnects the
/// clients and waits for its threads.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_view::ViewServer;
/// let context = Context::builder().shared_memory(false).build()?;
/// let server = ViewServer::builder().port(0).start(&context)?;
/// println!("open ws://{} in Foxglove or Lichtblick", server.address());
/// assert_eq!(server.statistics().clients, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the server ends when this is dropped: name the variable (`let _server = ..`)"]
pub struct ViewServer {
    hub: Arc<Hub>,
    address: SocketAddr,
    listener: Arc<TcpListener>,
    threads: Vec<JoinHandle<()>>,
    _graph: GraphListener,
}

/// Settings of a server; from [`ViewServer::builder`].
#[must_use = "nothing is served before `start`"]
pub struct ViewServerBuilder {
    address: IpAddr,
    port: u16,
    settings: Settings,
}

impl ViewServer {
    /// Returns a builder: for clients of this host, on port 8765, who may look at everything that
    /// is not hidden.
    pub fn builder() -> ViewServerBuilder {
        ViewServerBuilder { address: Ipv4Addr::LOCALHOST.into(), port: PORT, settings: Settings::default() }
    }

    /// Returns the address and port on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its counters. Messages that a client has lost count once it gets another one, or
    /// when its subscription or the server ends.
    pub fn statistics(&self) -> ViewStatistics {
        self.hub.statistics()
    }

    /// Ends the server as dropping it does, and returns its counters at the end.
    pub fn close(self) -> ViewStatistics {
        let hub = self.hub.clone();
        drop(self);
        hub.statistics()
    }
}

impl ViewServerBuilder {
    /// Sets the address on which it listens. Default: 127.0.0.1, which only this host reaches. On
    /// other addresses every client that reaches the port can look, and use what is allowed: set a
    /// [token](Self::token). The connection is not encrypted.
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// Sets the port. Default: 8765, which viewers try; 0: any that is free.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets the name that viewers show. Default: `sinew`.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.settings.name);
        self
    }

    /// Shows only matching topics: `/camera/**`, where `*` stands for a part of a word and `**` for
    /// any number of words. May be called several times. Clients publish only on these, too.
    pub fn topics(mut self, pattern: &str) -> Self {
        self.settings.topics.shown.push(pattern.to_owned());
        self
    }

    /// Doesn't show matching topics.
    pub fn exclude_topics(mut self, pattern: &str) -> Self {
        self.settings.topics.excluded.push(pattern.to_owned());
        self
    }

    /// Shows only matching services.
    pub fn services(mut self, pattern: &str) -> Self {
        self.settings.services.shown.push(pattern.to_owned());
        self
    }

    /// Doesn't show matching services.
    pub fn exclude_services(mut self, pattern: &str) -> Self {
        self.settings.services.excluded.push(pattern.to_owned());
        self
    }

    /// Shows only matching parameters, by names such as `/camera.rate`.
    pub fn parameters(mut self, pattern: &str) -> Self {
        self.settings.parameters.shown.push(pattern.to_owned());
        self
    }

    /// Doesn't show matching parameters.
    pub fn exclude_parameters(mut self, pattern: &str) -> Self {
        self.settings.parameters.excluded.push(pattern.to_owned());
        self
    }

    /// Sets whether topics and services are shown of which a part begins with an underscore.
    /// Default: no.
    pub fn hidden(mut self, shown: bool) -> Self {
        self.settings.has_hidden = shown;
        self
    }

    /// Sets whether clients may publish. Default: no.
    pub fn allow_publish(mut self, allowed: bool) -> Self {
        self.settings.allowed.publish = allowed;
        self
    }

    /// Sets whether clients see and may call services. Default: no.
    pub fn allow_services(mut self, allowed: bool) -> Self {
        self.settings.allowed.services = allowed;
        self
    }

    /// Sets whether clients may set parameters. Default: no; they may always read them.
    pub fn allow_parameters(mut self, allowed: bool) -> Self {
        self.settings.allowed.parameters = allowed;
        self
    }

    /// Sets whether clients may control the [player](Self::playback): pause, go on, seek and change
    /// the rate. Default: no; they may always watch it.
    pub fn allow_playback(mut self, allowed: bool) -> Self {
        self.settings.allowed.playback = allowed;
        self
    }

    /// Lets in only clients with this token: in the address, as `ws://host:8765/?token=..`, or as
    /// `Authorization: Bearer ..`. Others get HTTP status 401. Without a token all may come in. In
    /// the address, `%26` stands for `&`, as in every URL.
    pub fn token(mut self, token: &str) -> Self {
        self.settings.token = Some(token.to_owned());
        self
    }

    /// Lets in only web pages of this origin, such as `https://app.foxglove.dev`, and programs,
    /// which have none. May be called several times. By default all pages that a user of this host
    /// opens may connect.
    pub fn origin(mut self, origin: &str) -> Self {
        self.settings.origins.push(origin.to_owned());
        self
    }

    /// Sets the number of clients at a time. Default: 32. Others get HTTP status 503.
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.settings.max_clients = clients;
        self
    }

    /// Sets the longest message that a client may send, in bytes. Default: 16 MiB. A client with a
    /// longer one is disconnected. A text has at most 1 MiB in any case, and a message in JSON may
    /// take 64 MiB of memory while it is read (about 34 bytes a number).
    pub fn max_message_size(mut self, bytes: usize) -> Self {
        self.settings.max_frame = bytes;
        self
    }

    /// Sets how many messages of a topic wait for a client, at least 1. Default: 10. Of topics with
    /// retained messages, those wait as well. Messages that wait stay in their publishers' memory.
    pub fn depth(mut self, messages: usize) -> Self {
        self.settings.depth = messages.max(1);
        self
    }

    /// Sets the highest rate at which a client gets messages of a topic, in Hz; messages that come
    /// sooner are not sent. Topics with retained messages have no limit. Default: none; 0 and less
    /// mean none as well.
    pub fn max_rate(mut self, hertz: f64) -> Self {
        let period = Duration::try_from_secs_f64(1.0 / hertz).unwrap_or_default();
        self.settings.min_period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Offers the images of each topic `TOPIC` of type `sensor_msgs/msg/Image` in a smaller form as
    /// well, for slow links: as JPEG on the channel `TOPIC/compressed` of type
    /// `sensor_msgs/msg/CompressedImage`, unless there is such a topic. Images with more than this
    /// number of pixels in a row, at least 1, are scaled down by a whole factor. Filters choose
    /// such channels like topics. Default: no such channels.
    ///
    /// The encodings are `rgb8`, `bgr8`, `rgba8`, `bgra8`, `mono8` and `mono16`, of which the
    /// higher 8 bits are shown; `8UC1`, `8UC3` and `8UC4` count as `mono8`, `bgr8` and `bgra8`. For
    /// others, a client gets a warning. Images are compressed only while a client is subscribed to
    /// the channel, for each client on the thread that writes to it.
    pub fn image_width(mut self, pixels: u16) -> Self {
        self.settings.image_width = Some(pixels.max(1));
        self
    }

    /// Sets the quality of [compressed images](Self::image_width), from 1 to 100. Default: 80. A
    /// number outside counts as the nearest inside.
    pub fn image_quality(mut self, quality: u8) -> Self {
        self.settings.image_quality = quality.clamp(1, 100);
        self
    }

    /// Gives viewers the time of `/clock` instead of this host's. Default: no.
    pub fn use_sim_time(mut self, wanted: bool) -> Self {
        self.settings.use_sim_time = wanted;
        self
    }

    /// Lets clients watch a player: they get its time instead of this host's, and its state. They
    /// control it if that is [allowed](Self::allow_playback). The player publishes in the context
    /// of the server, which had better not be the robot's, or the robot gets the messages, too; and
    /// it had better [stay at its end](sinew_bag::PlayerBuilder::stay_at_end). Default: none.
    ///
    /// Its messages have their times in the bags. A client that has been sent a seek gets no
    /// message of the place before it. Messages of other publishers have the time of the bags at
    /// which they were published, or at which the player was last paused, moved or changed its rate
    /// since.
    pub fn playback(mut self, player: Player) -> Self {
        self.settings.playback = Some(Playback::new(player));
        self
    }

    /// Lets clients read files of packages, such as meshes, below a directory: those of
    /// `package://arm/..` in `DIRECTORY/arm` or `DIRECTORY/share/arm`. May be called several times.
    /// By default they read none.
    pub fn assets(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings.assets.push(directory.into());
        self
    }

    /// Sets a source of definitions. The server asks it for each type first, by name and hash: it
    /// may have constants, which the descriptions that programs publish don't have, and types that
    /// no program describes. For a type in which a client wants to publish, the server asks without
    /// a hash. It runs on the server's threads, and may block.
    pub fn definitions(
        mut self,
        find: impl Fn(&str, Option<TypeHash>) -> Option<TypeDefinition> + Send + Sync + 'static,
    ) -> Self {
        self.settings.find_type = Box::new(find);
        self
    }

    /// Starts the server in the context's domain. Clients may connect when this returns.
    ///
    /// # Errors
    /// [`ViewError`]: the port is in use, the context is shut down, or there are no more threads.
    pub fn start(self, context: &Context) -> Result<ViewServer, ViewError> {
        let Self { address, port, settings } = self;
        if let Some(playback) = &settings.playback {
            playback.remember(settings.depth.max(MOST_RETAINED));
        }
        let failed =
            |source| ViewError::Listen { address: SocketAddr::new(address, port).to_string(), source };
        let listener = TcpListener::bind((address, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let id = format!("{}-{}", std::process::id(), Time::steady().nanoseconds());
        let node = context.node_builder(&format!("_sinew_view_{}", address.port())).bare().create()?;
        let graph = node.graph();
        let (jobs, waiting_jobs) = mpsc::channel();
        let hub = Arc::new(Hub::new(node, settings, id, jobs));
        let told = Arc::downgrade(&hub);
        let listens = graph.on_change(move || {
            if let Some(hub) = told.upgrade() {
                hub.graph_changed();
            }
        });
        // From here on, dropping it ends the threads that there are.
        let listener = Arc::new(listener);
        let accepts = listener.clone();
        let mut server =
            ViewServer { hub: hub.clone(), address, listener, threads: Vec::new(), _graph: listens };
        let follows = hub.clone();
        server.threads.push(spawn("graph", move || follows.follow())?);
        let parameters = Parameters::new(hub.clone(), waiting_jobs);
        if hub.settings.playback.is_some() {
            let follows = hub.clone();
            server.threads.push(spawn("playback", move || follows.follow_playback())?);
        }
        server.threads.push(spawn("parameters", move || parameters.run())?);
        server.threads.push(spawn("accept", move || accept(&accepts, &hub))?);
        Ok(server)
    }
}

impl Drop for ViewServer {
    fn drop(&mut self) {
        self.hub.end();
        // Wakes the thread that accepts, which then sees that all ends. A connection would need a
        // file, and the process may have as many as it may.
        if rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both).is_err() {
            self.connect();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic was printed where it happened
        }
    }
}

impl ViewServer {
    /// Connects to itself, on systems where that alone wakes a thread that accepts.
    fn connect(&self) {
        let address = match self.address {
            SocketAddr::V4(address) if address.ip().is_unspecified() => {
                (Ipv4Addr::LOCALHOST, address.port()).into()
            }
            SocketAddr::V6(address) if address.ip().is_unspecified() => {
                (std::net::Ipv6Addr::LOCALHOST, address.port()).into()
            }
            address => address,
        };
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl fmt::Debug for ViewServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for ViewServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, port, .. } = self;
        f.debug_struct("ViewServerBuilder")
            .field("address", address)
            .field("port", port)
            .finish_non_exhaustive()
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ViewError> {
    let made = thread::Builder::new().name(format!("sinew-view-{name}")).spawn(work);
    made.map_err(|source| ViewError::Thread { source })
}

/// Accepts connections until the server ends.
fn accept(listener: &TcpListener, hub: &Arc<Hub>) {
    let mut has_failed = false;
    for stream in listener.incoming() {
        if hub.is_ending() {
            return;
        }
        // It fails if the client has gone again, or at once for as long as too many files are open.
        let stream = match stream {
            Ok(stream) => Arc::new(stream),
            Err(error) => {
                if !has_failed {
                    sinew::warn!(hub.node, "a viewer can't connect: {error}");
                }
                has_failed = true;
                hub.wait_for_an_end(ACCEPT_PAUSE);
                continue;
            }
        };
        has_failed = false;
        let Some(number) = hub.begin_connection(&stream) else {
            refuse(&stream);
            continue;
        };
        let connection = Connection { hub: hub.clone(), number };
        // Without a thread or files, dropping the connection closes it.
        if let Err(error) = spawn("read", move || connection.serve(stream)) {
            sinew::warn!(hub.node, "a viewer can't connect: {error}");
        }
    }
}

fn refuse(mut stream: &TcpStream) {
    let text = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let _ = stream.write_all(text.as_bytes()); // the client may have gone
}

/// A connection, which is counted until this is dropped.
struct Connection {
    hub: Arc<Hub>,
    number: u64,
}

impl Connection {
    /// Shakes hands, and serves the client until it goes.
    fn serve(self, stream: Arc<TcpStream>) {
        let hub = &self.hub;
        if prepare(&stream, hub).is_err() {
            return;
        }
        hub.end_handshake(self.number);
        let (to_read, to_write) = match (stream.try_clone(), stream.try_clone()) {
            (Ok(to_read), Ok(to_write)) => (to_read, to_write),
            (Err(error), _) | (_, Err(error)) => {
                return sinew::warn!(hub.node, "a viewer can't connect: {error}");
            }
        };
        let Some(session) = hub.add_session(stream) else { return };
        let pump = Pump::new(hub.clone(), session.clone(), Outlet::new(to_write));
        let (writes, written) = mpsc::channel::<()>();
        let write = move || {
            let _writes = writes; // dropped when it ends
            pump.run();
        };
        if let Ok(writer) = spawn("write", write) {
            let inlet = Inlet::new(to_read, hub.settings.max_frame);
            Requests::new(hub.clone(), session.clone()).run(inlet);
            // The writer is stuck if the client doesn't read.
            if written.recv_timeout(GOODBYE_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
                session.disconnect();
            }
            let _ = writer.join(); // a panic was printed where it happened
        }
        hub.remove_session(&session);
        session.forget_requests();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hub.end_connection(self.number);
    }
}

/// Shakes hands, and sets the socket up for messages.
fn prepare(stream: &TcpStream, hub: &Hub) -> io::Result<()> {
    shake_hands(stream, &hub.settings).map_err(io::Error::other)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))
}
