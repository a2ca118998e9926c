//! Components: the kinds of nodes that a container can make.

use crate::error::{LoadError, UnloadError};
use crate::request::NodeRequest;
use sinew::__private::locks::Lent;
use sinew::__private::panic_text;
use sinew::Node;
use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A boxed component, which ends when it is dropped; or the reason why it could not be made.
pub(crate) type Made = Result<Box<dyn Any + Send>, Box<dyn Error + Send + Sync>>;

/// Makes the node of a request and the value that keeps it.
type Make = Box<dyn FnMut(&NodeRequest) -> Result<(Node, Box<dyn Any + Send>), LoadError> + Send>;

/// A kind of node that a container can make.
pub struct Component {
    type_name: String,
    make: Lent<Make>,
}

/// A loaded node and its component.
pub(crate) struct Loaded {
    pub(crate) full_name: String,
    /// Dropping it ends the component.
    component: Box<dyn Any + Send>,
    /// A component may keep nothing of its node, which is there all the same while it is loaded.
    _node: Node,
}

impl Loaded {
    /// Drops the component. A panic in it must not affect the others.
    pub(crate) fn end(self) -> Result<(), UnloadError> {
        let Self { full_name: node, component, _node } = self;
        catch_unwind(AssertUnwindSafe(|| drop(component))).map_err(|panic| UnloadError::Panicked {
            node,
            message: panic_text(&*panic).unwrap_or_default().to_owned(),
        })
    }
}

pub(crate) fn boxed<T: Send + 'static, E: Into<Box<dyn Error + Send + Sync>>>(made: Result<T, E>) -> Made {
    made.map(|component| Box::new(component) as Box<dyn Any + Send>).map_err(Into::into)
}

impl Component {
    /// Defines a kind of node: `type_name` is the name for requests (`plugin_name`, mostly
    /// `package::Type`), `node` the default name of the node, and `make` makes the value that is
    /// kept while the node is loaded.
    pub fn new<T, E>(
        type_name: impl Into<String>,
        node: impl Into<String>,
        mut make: impl FnMut(Node) -> Result<T, E> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Self::on_node(type_name.into(), node.into(), move |node| boxed(make(node)))
    }

    pub(crate) fn on_node(
        type_name: String,
        node_name: String,
        mut make: impl FnMut(Node) -> Made + Send + 'static,
    ) -> Self {
        let refused = type_name.clone();
        let make = move |request: &NodeRequest| {
            let node = request.create(request.context().node_builder(&node_name))?;
            let made = make(node.clone());
            let component =
                made.map_err(|source| LoadError::Refused { type_name: refused.clone(), source })?;
            Ok((node, component))
        };
        Self { type_name, make: Lent::new(Box::new(make)) }
    }

    /// Defines a kind of node that makes its node itself, by [`NodeRequest::create`]: `make` returns
    /// the node and the value that is kept while it is loaded.
    pub fn from_request<T, E>(
        type_name: impl Into<String>,
        mut make: impl FnMut(&NodeRequest) -> Result<(Node, T), E> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let type_name = type_name.into();
        let refused = type_name.clone();
        let make = move |request: &NodeRequest| match make(request) {
            Ok((node, component)) => Ok((node, Box::new(component) as Box<dyn Any + Send>)),
            Err(error) => Err(LoadError::Refused { type_name: refused.clone(), source: error.into() }),
        };
        Self { type_name, make: Lent::new(Box::new(make)) }
    }

    /// Returns the name for requests.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Makes a node. A panic in one component must not affect the others: the values that it had
    /// made are dropped; the function is called again later, like any callback.
    pub(crate) fn load(&self, request: &NodeRequest) -> Result<Loaded, LoadError> {
        let made = self.make.with(|make| catch_unwind(AssertUnwindSafe(|| make(request))));
        let type_name = || self.type_name.clone();
        let (node, component) = match made.ok_or_else(|| LoadError::Busy { type_name: type_name() })? {
            Ok(made) => made?,
            Err(panic) => {
                return Err(LoadError::Panicked {
                    type_name: type_name(),
                    message: panic_text(&*panic).unwrap_or_default().to_owned(),
                });
            }
        };
        Ok(Loaded { full_name: node.full_name().to_owned(), component, _node: node })
    }
}
