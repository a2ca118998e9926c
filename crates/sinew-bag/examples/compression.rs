//! Compares writing a compressed bag with the compressor alone, on the same bytes.
//!
//! `cargo run --release --example compression -- FILE [THREADS]`: the file's bytes become messages of
//! 64 KiB. THREADS compress beside the writing one.

use sinew::time::Time;
use sinew_bag::{BagWriter, Stamps, StorageOptions, StoragePreset, TopicDefinition, WriterOptions};
use sinew_interfaces::std_msgs::msg::String as Text;

/// Bytes of a message.
const MESSAGE: usize = 64 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let bytes = std::fs::read(arguments.next().ok_or("name a file")?)?;
    let threads: u32 = arguments.next().map_or(Ok(0), |text| text.to_string_lossy().parse())?;
    for _ in 0..5 {
        let (alone, compressed) = compress(&bytes, threads)?;
        let (bag, length) = write_bag(&bytes, threads)?;
        println!(
            "zstd alone {alone:.0} MB/s, {compressed} bytes; a bag {bag:.0} MB/s, {length} bytes: {:.2} x",
            bag / alone
        );
    }
    Ok(())
}

/// Compresses chunk by chunk, as a bag is; returns the speed in MB/s and the length.
fn compress(bytes: &[u8], threads: u32) -> std::io::Result<(f64, usize)> {
    let chunk =
        usize::try_from(StorageOptions::from(StoragePreset::ZstdFast).chunk_size).unwrap_or(usize::MAX);
    let mut compressor = zstd::bulk::Compressor::new(1)?;
    compressor.set_parameter(zstd::stream::raw::CParameter::NbWorkers(threads))?;
    let mut compressed = vec![0; zstd::zstd_safe::compress_bound(chunk)];
    let (began, mut length) = (Time::steady(), 0);
    for part in bytes.chunks(chunk) {
        length += compressor.compress_to_buffer(part, &mut compressed[..])?;
    }
    Ok((speed(bytes, began), length))
}

/// Writes a bag into memory; returns the speed in MB/s and the length.
fn write_bag(bytes: &[u8], threads: u32) -> Result<(f64, u64), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir_in("/dev/shm")?;
    let mut storage = StorageOptions::from(StoragePreset::ZstdFast);
    storage.threads = threads;
    let options = WriterOptions { storage, ..WriterOptions::default() };
    let began = Time::steady();
    let mut writer = BagWriter::create(directory.path().join("bag"), options)?;
    let topic = writer.add_topic(&TopicDefinition::of::<Text>("/bytes").ok_or("it has an encoding")?)?;
    for (number, message) in bytes.chunks(MESSAGE).enumerate() {
        writer.write(topic, Stamps::at(number as u64), message)?;
    }
    writer.close()?;
    let speed = speed(bytes, began);
    let files = std::fs::read_dir(directory.path().join("bag"))?;
    let lengths = files.map(|file| Ok(file?.metadata()?.len()));
    Ok((speed, lengths.sum::<std::io::Result<u64>>()?))
}

fn speed(bytes: &[u8], began: Time) -> f64 {
    bytes.len() as f64 / (Time::steady() - began).as_secs_f64() / 1e6
}
