//! The benchmarks' own messages: made from the definitions in `interfaces/sinew_bench_msgs` when this program was built.

#[expect(unreachable_pub, reason = "generated for libraries as well")]
mod generated {
    sinew::include_interfaces!();
}

pub(crate) use generated::sinew_bench_msgs::msg::{Stamped, Timing};
pub(crate) use generated::sinew_bench_msgs::srv::{Bench, BenchRequest, BenchResponse};
