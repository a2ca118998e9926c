//! The benchmarks' own messages, generated from the definitions in `interfaces/sinew_bench_msgs`
//! when this program was built.

#[expect(unreachable_pub, reason = "generated for libraries as well")]
mod generated {
    sinew::include_interfaces!();
}

pub(crate) use generated::sinew_bench_msgs::msg::{Stamped, StampedLengths, Timing};
pub(crate) use generated::sinew_bench_msgs::srv::{Bench, BenchRequest, BenchResponse};

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Message, Service};

    #[test]
    fn the_messages_are_those_of_the_definitions() {
        let timing = Timing::ENCODING.unwrap();
        assert_eq!((timing.name, timing.plain.is_some()), ("sinew_bench_msgs/msg/Timing", true));
        // 4 bytes for the encoding; 8, 4 and 2 for a header, an aligned 4 for a length, and the
        // data.
        let stamped = Stamped { data: vec![0; 100], ..Stamped::default() };
        let encoding = Stamped::ENCODING.unwrap();
        assert_eq!(
            (encoding.name, (encoding.size)(&stamped)),
            ("sinew_bench_msgs/msg/Stamped", 4 + 20 + 100)
        );
        assert_eq!(Bench::TYPE.unwrap().name, "sinew_bench_msgs/srv/Bench");
        let (request, response) = (BenchRequest::ENCODING.unwrap(), BenchResponse::ENCODING.unwrap());
        assert!(request.plain.is_some() && response.plain.is_some() && request.hash != response.hash);
    }
}
