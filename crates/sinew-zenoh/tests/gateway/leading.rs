//! Several gateways of a host.

use crate::network::{Host, Network, PATIENCE, wait_for};
use sinew_interfaces::std_msgs::msg::String as Text;

#[test]
fn one_leads_and_the_next_takes_over() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let first = one.gateway(&network);
    assert!(first.wait_until_it_leads(PATIENCE));
    let second = one.gateway(&network);
    let _far = other.gateway(&network);
    let publisher = one.context().node("talker")?.publisher::<Text>("/chatter").create()?;
    let texts = other.context().node("listener")?.subscription::<Text>("/chatter").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    assert!(!second.statistics().leads);
    first.close();
    assert!(second.wait_until_it_leads(PATIENCE));
    wait_for("a message by the second", || {
        publisher.publish(Text { data: "again".to_owned() }).expect("it is open");
        texts.take()
    });
    Ok(())
}
