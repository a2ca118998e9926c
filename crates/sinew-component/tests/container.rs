//! Loading, using, listing and unloading nodes, within one process and from another.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sinew::{Client, Context, Executor, LogLevel, Node};
use sinew_component::{Component, Container, NodeRequest};
use sinew_interfaces::composition_interfaces::srv::{
    ListNodes, ListNodesRequest, LoadNode, LoadNodeRequest, LoadNodeResponse, UnloadNode, UnloadNodeRequest,
    UnloadNodeResponse,
};
use sinew_interfaces::rcl_interfaces::msg;
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest};

const PATIENCE: Duration = Duration::from_secs(60);

/// Counts its instances.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(1, Ordering::SeqCst);
        Self(all.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A container with a listener, a component that refuses and one that panics, and clients of the
/// container.
struct Bench {
    context: Context,
    container: Container,
    _caller: Context,
    asker: Node,
    load: Client<LoadNode>,
    unload: Client<UnloadNode>,
    list: Client<ListNodes>,
    alive: Arc<AtomicUsize>,
    heard: Arc<AtomicUsize>,
    _place: Option<tempfile::TempDir>,
}

impl Bench {
    /// The callers are in the same context, or in another one.
    fn new(is_apart: bool) -> Self {
        let place = is_apart.then(|| tempfile::tempdir_in("/dev/shm").unwrap());
        let context = || match &place {
            Some(place) => Context::builder().directory(place.path()).build().unwrap(),
            None => Context::builder().shared_memory(false).build().unwrap(),
        };
        let own = context();
        let caller = if is_apart { context() } else { own.clone() };
        let (alive, heard) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let (living, hearing) = (alive.clone(), heard.clone());
        let listener = move |node: Node| -> sinew::Result<_> {
            let count = hearing.clone();
            let hear = move |_: &Text| {
                count.fetch_add(1, Ordering::SeqCst);
            };
            let subscription = node.subscription::<Text>("words").callback(hear)?;
            Ok((subscription, Counted::new(&living)))
        };
        let container = Container::builder(&own, "container")
            .component("demo::Listener", "listener", listener)
            .component("demo::Refuser", "refuser", |_: Node| Err::<(), _>("no camera is connected"))
            .component("demo::Panicker", "panicker", |node: Node| -> sinew::Result<()> {
                panic!("made on {}", node.name())
            })
            .build()
            .unwrap();
        let asker = caller.node("asker").unwrap();
        let name = |service: &str| format!("/container/_container/{service}");
        let bench = Self {
            load: asker.client::<LoadNode>(&name("load_node")).create().unwrap(),
            unload: asker.client::<UnloadNode>(&name("unload_node")).create().unwrap(),
            list: asker.client::<ListNodes>(&name("list_nodes")).create().unwrap(),
            context: own,
            container,
            _caller: caller,
            asker,
            alive,
            heard,
            _place: place,
        };
        assert!(
            bench.load.wait_for_server(PATIENCE)
                && bench.unload.wait_for_server(PATIENCE)
                && bench.list.wait_for_server(PATIENCE)
        );
        bench
    }

    /// Runs the test while an executor serves the container.
    fn run(self, test: impl FnOnce(&Self)) {
        let executor = Executor::single();
        executor.add(&self.context).unwrap();
        std::thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin());
            let ending = EndAtLast(&self.context);
            test(&self);
            drop(ending);
            spinning.join().unwrap().unwrap();
        });
        let alive = self.alive.clone();
        drop((self.container, executor));
        assert_eq!(alive.load(Ordering::SeqCst), 0, "what is loaded ends with the container");
    }

    fn load(&self, plugin: &str, name: &str, namespace: &str) -> LoadNodeResponse {
        let request = LoadNodeRequest {
            plugin_name: plugin.into(),
            node_name: name.into(),
            node_namespace: namespace.into(),
            ..Default::default()
        };
        self.send(request)
    }

    fn send(&self, request: LoadNodeRequest) -> LoadNodeResponse {
        (*self.load.call(request, PATIENCE).unwrap()).clone()
    }

    fn unload(&self, unique_id: u64) -> UnloadNodeResponse {
        (*self.unload.call(UnloadNodeRequest { unique_id }, PATIENCE).unwrap()).clone()
    }

    fn list(&self) -> Vec<(u64, String)> {
        let listed = self.list.call(ListNodesRequest::default(), PATIENCE).unwrap();
        listed.unique_ids.iter().copied().zip(listed.full_node_names.iter().cloned()).collect()
    }
}

/// Ends the spinning thread even if the test fails.
struct EndAtLast<'a>(&'a Context);

impl Drop for EndAtLast<'_> {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

fn nodes_come_and_go(is_apart: bool) {
    Bench::new(is_apart).run(|bench| {
        let publisher = bench.asker.publisher::<Text>("/words").create().unwrap();
        let first = bench.load("demo::Listener", "", "");
        assert_eq!((first.success, first.full_node_name.as_str(), first.unique_id), (true, "/listener", 1));
        let second = bench.load("demo::Listener", "ear", "/head");
        assert_eq!((second.full_node_name.as_str(), second.unique_id), ("/head/ear", 2));
        assert_eq!(bench.list(), [(1, "/listener".to_owned()), (2, "/head/ear".to_owned())]);
        assert_eq!(bench.alive.load(Ordering::SeqCst), 2);

        // The first node hears it; `words` of the second is another topic.
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        publisher.publish(Text { data: "hello".into() }).unwrap();
        while bench.heard.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }

        assert!(bench.unload(1).success);
        assert_eq!(bench.alive.load(Ordering::SeqCst), 1, "it is dropped at once");
        let again = bench.unload(1);
        assert_eq!(
            (again.success, again.error_message.as_str()),
            (false, "no node is loaded as 1; those that are: 2")
        );
        assert_eq!(bench.load("demo::Listener", "", "").unique_id, 3, "no number is used twice");
        assert_eq!(bench.heard.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn nodes_come_and_go_in_one_process() {
    nodes_come_and_go(false);
}

#[test]
fn nodes_come_and_go_through_shared_memory() {
    nodes_come_and_go(true);
}

#[test]
fn the_command_line_names_what_is_there_from_the_start() {
    let container = |line: &[&str]| {
        let line = ["program"].iter().chain(line);
        let context = Context::builder().shared_memory(false).arguments(line.copied()).build().unwrap();
        let name = |node: Node| -> Result<Node, sinew::Error> { Ok(node) };
        let builder = Container::builder(&context, "container").component("demo::Node", "plain", name);
        (context, builder.build())
    };
    let (context, built) =
        container(&["--component", "demo::Node", "--x", "--component=demo::Node=/a/b/named"]);
    let built = built.unwrap();
    let asker = context.node("asker").unwrap();
    let list = asker.client::<ListNodes>("/container/_container/list_nodes").create().unwrap();
    let types = asker.client::<Trigger>("/container/_container/list_types").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let listed = executor.spin_until(list.call_async(ListNodesRequest::default())).unwrap().unwrap();
    assert_eq!(listed.full_node_names.iter().collect::<Vec<_>>(), ["/plain", "/a/b/named"]);
    let known = executor.spin_until(types.call_async(TriggerRequest::default())).unwrap().unwrap();
    assert_eq!(known.message.to_string(), "demo::Node");
    drop(built);

    let wrong = |line: &[&str]| container(line).1.map(drop).unwrap_err().to_string();
    assert!(wrong(&["--component"]).starts_with("`--component` needs a value"));
    assert!(wrong(&["--component", "demo::Nod"]).contains("no `demo::Nod`; did you mean `demo::Node`?"));
}

#[test]
fn what_cannot_be_loaded_is_told_and_the_container_lives_on() {
    Bench::new(false).run(|bench| {
        let refused = |request: LoadNodeRequest| {
            let response = bench.send(request);
            assert!(!response.success && response.unique_id == 0);
            response.error_message
        };
        let named = |plugin: &str| LoadNodeRequest { plugin_name: plugin.into(), ..Default::default() };
        let known = "it has demo::Listener, demo::Panicker, demo::Refuser";
        assert_eq!(
            refused(named("demo::Listner")),
            format!("this container has no `demo::Listner`; did you mean `demo::Listener`?")
        );
        assert_eq!(
            refused(named("other::Camera")),
            format!("this container has no `other::Camera`; {known}")
        );
        assert_eq!(refused(named("demo::Refuser")), "demo::Refuser refused: no camera is connected");
        assert_eq!(
            refused(named("demo::Panicker")),
            "demo::Panicker panicked while it was made: made on panicker"
        );
        let remapped = LoadNodeRequest { remap_rules: vec!["a".into()], ..named("demo::Listener") };
        assert!(refused(remapped).starts_with("remap rule `a` has no `:=`"));
        let extra = |name: &str, value| {
            let extra_arguments = vec![msg::Parameter { name: name.into(), value }];
            LoadNodeRequest { extra_arguments, ..named("demo::Listener") }
        };
        let yes = msg::ParameterValue { r#type: 1, bool_value: true, ..Default::default() };
        assert!(
            refused(extra("use_dds", yes)).starts_with("the extra argument \"use_dds\" of demo::Listener")
        );
        let number = msg::ParameterValue { r#type: 2, integer_value: 1, ..Default::default() };
        assert!(refused(extra("use_intra_process_comms", number)).contains("each true or false"));
        let leveled = LoadNodeRequest { log_level: 7, ..named("demo::Listener") };
        assert!(refused(leveled).starts_with("the log level 7 of demo::Listener isn't one of ROS 2's"));
        let strange = msg::ParameterValue { r#type: 99, ..Default::default() };
        let parameters = vec![msg::Parameter { name: "rate".into(), value: strange }];
        let typed = LoadNodeRequest { parameters, ..named("demo::Listener") };
        assert_eq!(
            refused(typed),
            "the parameter \"rate\" of demo::Listener has the type 99, which ROS 2 doesn't have"
        );
        let misnamed = LoadNodeRequest { node_name: "a b".into(), ..named("demo::Listener") };
        assert!(refused(misnamed).contains("a b"));
        assert_eq!(bench.list(), []);
        assert!(bench.load("demo::Listener", "", "").success);
    });
}

/// A component's node and topic names come from the request, then from the command line.
#[test]
fn a_component_has_names_of_its_own() {
    let line = ["program", "--ros-args", "-r", "__node:=box", "-r", "__ns:=/robot", "-r", "words:=all"];
    let context = Context::builder().shared_memory(false).arguments(line).build().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let speaker = move |node: Node| -> sinew::Result<()> {
        let topic = |name: &str| node.publisher::<Text>(name).create().map(|it| it.topic().to_owned());
        let _ = tell.send((node.full_name().to_owned(), topic("words")?, topic("~/louder")?));
        Ok(())
    };
    let container = Container::builder(&context, "container").component("demo::Speaker", "speaker", speaker);
    let container = container.build().unwrap();
    assert_eq!(container.node().full_name(), "/robot/box");
    let asker = context.node_builder("asker").remap("__node:=asker").create().unwrap();
    let load = asker.client::<LoadNode>("/robot/box/_container/load_node").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    for (name, namespace, rules, expected) in [
        ("left", "/a", &["words:=said"][..], ("/a/left", "/a/said", "/a/left/louder")),
        ("left", "", &["left:~/louder:=shout"], ("/robot/left", "/robot/all", "/robot/shout")),
        ("", "/", &["__node:=right"], ("/right", "/all", "/right/louder")),
        ("", "", &[], ("/robot/speaker", "/robot/all", "/robot/speaker/louder")),
    ] {
        let request = LoadNodeRequest {
            plugin_name: "demo::Speaker".into(),
            node_name: name.into(),
            node_namespace: namespace.into(),
            remap_rules: rules.iter().map(|&rule| rule.into()).collect(),
            ..Default::default()
        };
        let response = executor.spin_until(load.call_async(request)).unwrap().unwrap();
        assert!(response.success, "{}", response.error_message);
        let (node, words, louder) = told.try_recv().unwrap();
        assert_eq!((node.as_str(), words.as_str(), louder.as_str()), expected);
        assert_eq!(response.full_node_name, node);
    }
}

#[test]
fn a_component_gets_its_parameters_and_its_log_level() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let rated = move |node: Node| -> Result<(), sinew::Error> {
        let rate = node.parameter("rate").default(1_i64).create()?;
        let _ = tell.send((rate.get(), node.logger().level()));
        Ok(())
    };
    let _container =
        Container::builder(&context, "container").component("demo::Rated", "rated", rated).build().unwrap();
    let asker = context.node("asker").unwrap();
    let load = asker.client::<LoadNode>("/container/_container/load_node").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    for (value, level) in [(7, LogLevel::Error), (9, LogLevel::Debug)] {
        let value_ = msg::ParameterValue { r#type: 2, integer_value: value, ..Default::default() };
        let request = LoadNodeRequest {
            plugin_name: "demo::Rated".into(),
            node_name: format!("rated_{value}"),
            parameters: vec![msg::Parameter { name: "rate".into(), value: value_ }],
            log_level: level.number(),
            ..Default::default()
        };
        let response = executor.spin_until(load.call_async(request)).unwrap().unwrap();
        assert!(response.success, "{}", response.error_message);
        assert_eq!(told.try_recv(), Ok((value, level)));
    }
}

#[test]
fn components_come_from_packages_and_from_the_program_while_it_runs() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let searches = asked.clone();
    let camera = |request: &NodeRequest| -> Result<(Node, u8), String> {
        let node = request.create(request.context().node_builder("camera").namespace("/own"));
        node.map(|node| (node, 7)).map_err(|error| error.to_string())
    };
    let find = move |package: &str, type_name: &str| {
        searches.fetch_add(1, Ordering::SeqCst);
        match package {
            "drivers" => Ok(vec![Component::from_request("drivers::Camera", camera)]),
            _ => Err(format!("{package} has no {type_name}")),
        }
    };
    let container = Container::builder(&context, "container").loader(find).build().unwrap();
    let of = |package: &str, plugin: &str| LoadNodeRequest {
        package_name: package.into(),
        plugin_name: plugin.into(),
        ..Default::default()
    };
    let refused = |request| container.load(&request).unwrap_err().to_string();
    assert_eq!(refused(of("", "drivers::Camera")), "this container has no `drivers::Camera`; it has none");
    let unknown = refused(of("robots", "robots::Arm"));
    assert_eq!(unknown, "this container has no `robots::Arm`; it has none; robots has no robots::Arm");
    assert_eq!(container.load(&of("drivers", "drivers::Camera")).unwrap(), (1, "/own/camera".to_owned()));
    let named = LoadNodeRequest { node_name: "left".into(), ..of("drivers", "drivers::Camera") };
    assert_eq!(container.load(&named).unwrap(), (2, "/own/left".to_owned()));
    assert_eq!(asked.load(Ordering::SeqCst), 2, "what is registered isn't searched for");

    container.register(Component::new("demo::Nothing", "nothing", |_: Node| Ok::<_, String>(())));
    assert_eq!(container.types(), ["demo::Nothing", "drivers::Camera"]);
    container.unload(1).unwrap();
    let gone = container.unload(1).unwrap_err().to_string();
    assert_eq!(gone, "no node is loaded as 1; those that are: 2");
    assert_eq!(container.nodes(), [(2, "/own/left".to_owned())]);
}

/// Panics when it ends.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("the camera is stuck");
    }
}

#[test]
fn a_component_that_panics_at_its_end_leaves_the_others() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let container = Container::builder(&context, "container")
        .component("demo::Fragile", "fragile", |_: Node| Ok::<_, String>(Fragile))
        .component("demo::Plain", "plain", |_: Node| Ok::<_, String>(()))
        .build()
        .unwrap();
    let load =
        |plugin: &str| container.load(&LoadNodeRequest { plugin_name: plugin.into(), ..Default::default() });
    let (fragile, _) = load("demo::Fragile").unwrap();
    let (plain, name) = load("demo::Plain").unwrap();
    let is_there = || context.graph().unwrap().nodes().iter().any(|node| node.name == name);
    assert!(is_there(), "a component that keeps nothing has a node");
    let error = container.unload(fragile).unwrap_err();
    assert_eq!(error.to_string(), "/fragile panicked while it was unloaded: the camera is stuck");
    assert_eq!(container.nodes(), [(plain, name.clone())]);
    container.unload(plain).unwrap();
    assert!(!is_there());
    let argument = msg::Parameter {
        name: "forward_global_arguments".into(),
        value: msg::ParameterValue { r#type: 1, ..Default::default() },
    };
    let request = LoadNodeRequest {
        plugin_name: "demo::Plain".into(),
        extra_arguments: vec![argument],
        ..Default::default()
    };
    assert!(container.load(&request).is_ok());
}
