//! Levels of loggers, read and set by other processes: ROS 2's two services.

use crate::api::node::Node;
use crate::api::server::Server;
use crate::ros::failure::CreateError;
use crate::sys::logging::{LogLevel, own_level, set_level};
use sinew_interfaces::rcl_interfaces::msg::{LoggerLevel, SetLoggerLevelsResult};
use sinew_interfaces::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsRequest, GetLoggerLevelsResponse, SetLoggerLevels,
    SetLoggerLevelsRequest, SetLoggerLevelsResponse,
};

/// The services by which tools read and set the levels of this process's loggers, until this is
/// dropped. From [`Node::logger_services`].
#[derive(Debug, Clone)]
#[must_use = "the services end when this is dropped, and `let _ = ..` drops it at once: name the variable, or `detach()` it"]
pub struct LoggerServices {
    get: Server<GetLoggerLevels>,
    set: Server<SetLoggerLevels>,
}

impl LoggerServices {
    /// Keeps the services until the context ends.
    pub fn detach(self) {
        self.get.detach();
        self.set.detach();
    }
}

impl Node {
    /// Lets other processes read and set the levels of this process's loggers, through the services
    /// `~/get_logger_levels` and `~/set_logger_levels`: `sinew log level`, `ros2 service call`. As
    /// in ROS 2 a node has them only on request (`enable_logger_service`), since anyone who can
    /// call them can silence the program.
    ///
    /// No executor is needed: they answer on the calling thread, or the one that brings the call.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("camera")?;
    /// node.logger_services()?.detach();
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`CreateError`], as for
    /// [servers](crate::service::ServerBuilder::immediate_callback).
    pub fn logger_services(&self) -> Result<LoggerServices, CreateError> {
        let get = self.server::<GetLoggerLevels>("~/get_logger_levels");
        let get = get.immediate_callback(|request: &GetLoggerLevelsRequest| GetLoggerLevelsResponse {
            levels: request.names.iter().map(|name| level_of(name)).collect(),
        })?;
        let set = self.server::<SetLoggerLevels>("~/set_logger_levels");
        let set = set.immediate_callback(|request: &SetLoggerLevelsRequest| SetLoggerLevelsResponse {
            results: request.levels.iter().map(set_one).collect(),
        })?;
        Ok(LoggerServices { get, set })
    }
}

/// Returns the logger's own level; 0 if it uses that of a logger above it.
fn level_of(name: &str) -> LoggerLevel {
    LoggerLevel { name: name.to_owned(), level: own_level(name).map_or(0, |level| level.number().into()) }
}

/// Sets a level; with 0 the logger uses the level of the one above it again.
fn set_one(wanted: &LoggerLevel) -> SetLoggerLevelsResult {
    let level = match wanted.level {
        0 => None,
        number => match LogLevel::of_number(number) {
            Some(level) => Some(level),
            None => {
                let reason = format!(
                    "logger `{}` can't have the level {number}: 10 is debug, 20 info, 30 warn, 40 error, 50 fatal, and 0 \
                     that of the logger above it",
                    wanted.name
                );
                return SetLoggerLevelsResult { successful: false, reason };
            }
        },
    };
    set_level(&wanted.name, level);
    SetLoggerLevelsResult { successful: true, reason: String::new() }
}
