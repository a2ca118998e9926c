//! Saves the viewer's frames on a separate thread, which holds the very frame that the viewer
//! received: nothing is copied, and the viewer doesn't wait for the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use png::{BitDepth, ColorType};
use sinew::msg::Sample;
use sinew_interfaces::sensor_msgs::msg::Image;

use super::frame::FrameView;
use crate::chart;
use crate::error::Error;
use sinew_bench::run::Collected;

/// Number of frames that may wait for the disk; further ones are not saved.
const WAITING: usize = 4;

/// Writes frames as `<name>.png` into a directory, one of each name.
pub(super) struct Saver {
    frames: SyncSender<Sample<Image>>,
    thread: JoinHandle<Result<u64, Error>>,
    last_name: String,
    /// The reason why no more frames are saved, until it has been reported.
    failure: Collected<Option<String>>,
}

impl Saver {
    /// Creates the directory if it doesn't exist, and makes sure that it can be written to.
    pub(super) fn start(directory: &Path) -> Result<Self, Error> {
        let failed = |action| move |source| Error::File { action, path: directory.to_owned(), source };
        fs::create_dir_all(directory).map_err(failed("create the directory"))?;
        let probe = directory.join(".sinew-demo");
        fs::write(&probe, b"")
            .and_then(|()| fs::remove_file(&probe))
            .map_err(failed("write to the directory"))?;
        let (frames, waiting) = sync_channel::<Sample<Image>>(WAITING);
        let directory = directory.to_owned();
        let failure = Collected::new(None);
        let told = failure.clone();
        let thread = thread::Builder::new()
            .name("save".to_owned())
            .spawn(move || {
                let mut saved = 0;
                for frame in waiting {
                    save(&frame, &directory)
                        .inspect_err(|error| told.with(|failure| *failure = Some(error.to_string())))?;
                    saved += 1;
                }
                Ok(saved)
            })
            .map_err(|source| Error::System { call: "starting the thread that saves", source })?;
        Ok(Self { frames, thread, last_name: String::new(), failure })
    }

    /// Saves the frame if it is the first of its picture. Never blocks.
    pub(super) fn offer(&mut self, name: &str, frame: &Sample<Image>) {
        if name == self.last_name {
            return;
        }
        match self.frames.try_send(frame.clone()) {
            Ok(()) => name.clone_into(&mut self.last_name),
            Err(TrySendError::Full(_)) => {}
            // The thread has failed; `failure` and `finish` report the reason.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Returns the reason why no more frames are saved, once.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.with(Option::take)
    }

    /// Waits until all frames are written. Returns their number.
    pub(super) fn finish(self) -> Result<u64, Error> {
        drop(self.frames);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Writes one frame; an incomplete file is removed.
fn save(frame: &Sample<Image>, directory: &Path) -> Result<(), Error> {
    let failed = |path: PathBuf| move |source| Error::File { action: "save", path, source };
    let view = frame.view().map_err(io::Error::other).map_err(failed(directory.to_owned()))?;
    let FrameView { name, width, height, pixels } =
        FrameView::of(&view).map_err(io::Error::other).map_err(failed(directory.to_owned()))?;
    let path = directory.join(format!("{}.png", name.replace('/', "_"))); // stays in this directory
    let encoded = chart::encode((width, height), (ColorType::Rgb, BitDepth::Eight), pixels);
    encoded.and_then(|png| fs::write(&path, png)).map_err(|source| {
        let _ = fs::remove_file(&path);
        failed(path)(source)
    })
}

#[cfg(test)]
mod tests {
    use super::super::frame::begun;
    use super::*;
    use sinew::Shared;

    const PIXELS: [u8; 6] = [1, 2, 3, 4, 5, 6];

    fn frame(name: &str) -> Sample<Image> {
        let frame = Image { width: 2, height: 1, step: 6, data: PIXELS.to_vec(), ..begun(name) };
        Sample::from(Shared::new(frame))
    }

    #[test]
    fn one_file_per_picture() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("a/b");
        let mut saver = Saver::start(&inside).unwrap();
        for name in ["cat", "cat", "cup"] {
            saver.offer(name, &frame(name));
        }
        assert_eq!(saver.finish().unwrap(), 2);
        let file = io::BufReader::new(fs::File::open(inside.join("cat.png")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, PIXELS);
        assert!(inside.join("cup.png").exists() && !inside.join(".sinew-demo").exists());
    }

    #[test]
    fn a_directory_that_cannot_be_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inside = file.path().join("pictures");
        let error = Saver::start(&inside).err().unwrap().to_string();
        assert!(error.starts_with(&format!("can't create the directory {}: ", inside.display())), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_when_it_happens_and_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("cat.png")).unwrap();
        let mut saver = Saver::start(directory.path()).unwrap();
        assert_eq!(saver.failure(), None);
        saver.offer("cat", &frame("cat"));
        let failure = loop {
            match saver.failure() {
                None => thread::yield_now(),
                Some(failure) => break failure,
            }
        };
        assert!(failure.contains("cat.png"), "{failure}");
        assert_eq!(saver.failure(), None, "told once");
        assert_eq!(saver.finish().unwrap_err().to_string(), failure);
    }
}
