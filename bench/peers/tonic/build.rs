//! Generates the client and the server of the service, in tonic's documented way without protoc.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let call = Method::builder()
        .name("call")
        .route_name("Call")
        .input_type("crate::Stamped")
        .output_type("crate::Stamped")
        .codec_path("tonic_prost::ProstCodec")
        .build();
    let hop = Service::builder().name("Hop").package("bench").method(call).build();
    Builder::new().compile(&[hop]);
}
