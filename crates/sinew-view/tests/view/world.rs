//! A domain with a robot's node, and a server in another context, as of another process.

use crate::client::Viewer;
use sinew::{Context, Executor, Node};
use sinew_view::{ViewServer, ViewServerBuilder};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) node: Node,
    pub(crate) context: Context,
    pub(crate) server: ViewServer,
    directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(settings: impl FnOnce(ViewServerBuilder) -> ViewServerBuilder) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = Context::builder().directory(directory.path()).build().unwrap();
        let node = context.node("robot").unwrap();
        let viewing = Context::builder().directory(directory.path()).build().unwrap();
        let server = settings(ViewServer::builder().port(0)).start(&viewing).unwrap();
        Self { node, context, server, directory }
    }

    /// A context of another program.
    pub(crate) fn other_context(&self) -> Context {
        Context::builder().directory(self.directory.path()).build().unwrap()
    }

    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::connect(&self.server, "", &["foxglove.sdk.v1"]).unwrap()
    }

    /// Runs callbacks of the robot while the closure runs.
    pub(crate) fn spinning<R>(&self, work: impl FnOnce() -> R) -> R {
        let executor = Executor::single();
        executor.add(&self.context).unwrap();
        std::thread::scope(|scope| {
            let stop = executor.stop_handle();
            let spins = scope.spawn(|| executor.spin());
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            stop.stop();
            spins.join().unwrap().unwrap();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
