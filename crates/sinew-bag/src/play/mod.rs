//! Playing bags: on the steady clock, or in virtual time.
//
// | file | contents |
// |---|---|
// | `player` | the handle of a player |
// | `builder` | players and replays, as programs configure them |
// | `options` | the options that both have |
// | `replay` | messages in virtual time, the same in every run |
// | `services` | the services of rosbag2's player |
// | `playback` | the thread that publishes |
// | `state` | the state that the handle, the publishing thread and the reading thread share |
// | `plan` | the topics that are played: as which types, by which publishers |
// | `source` | the messages in their order, with the retained ones of latched topics |
// | `played` | the times of the messages that were published last |
// | `output` | a publisher of a topic, and flow control |
// | `clock` | the publisher of `/clock` |
// | `offer` | the QoS of publishers |
// | `pace` | the time of a bag as a function of the steady clock |

mod builder;
mod clock;
mod error;
mod offer;
mod options;
mod output;
mod pace;
mod plan;
mod playback;
mod played;
mod player;
mod replay;
mod services;
mod source;
mod state;
mod statistics;

pub use builder::PlayerBuilder;
pub use error::{PlayError, ReplayError};
pub use options::{MessageOrder, PlayerClock};
pub use played::PlayedMessage;
pub use player::Player;
pub use replay::Replay;
pub use state::PlayEnd;
pub use statistics::{PlayedTopic, PlayerStatistics, Progress, SkippedTopic};
