//! The types of a service.

use crate::message::generic::GenericType;
use crate::message::type_support::{CloneInto, TypeSupport};
use sinew_msg::description::TypeDescription;
use sinew_msg::{Service, ServiceType};

/// The types that both sides of a service have to agree on.
#[derive(Clone, Copy)]
pub(crate) struct ServiceTypes {
    pub(crate) request: &'static TypeSupport,
    pub(crate) response: &'static TypeSupport,
    pub(crate) service: Option<&'static ServiceType>,
    /// The clone functions of request and response, if the types were registered with them; `None`
    /// for types of Rust.
    pub(crate) cloners: [Option<CloneInto>; 2],
}

impl ServiceTypes {
    pub(crate) fn of<S: Service>() -> Self {
        Self {
            request: TypeSupport::of::<S::Request>(),
            response: TypeSupport::of::<S::Response>(),
            service: S::TYPE,
            cloners: [None; 2],
        }
    }

    /// Returns the types of a service that is known at run time only.
    pub(crate) fn generic(known: GenericType) -> Self {
        let (request, response, service) = (known.request(), known.response(), Some(known.service()));
        Self { request, response, service, cloners: [None; 2] }
    }

    /// Returns the description that other processes need to read its messages, if it is known; as
    /// in [`TypeSupport::description`].
    pub(crate) fn description(&self) -> Option<TypeDescription> {
        let service = self.service?;
        let of_parts = || {
            let (request, response) = (self.request.described()?, self.response.described()?);
            let description = TypeDescription::of_service(service.name, &request, &response);
            (description.hash() == service.hash).then_some(description)
        };
        of_parts().or_else(|| GenericType::description_of(service))
    }

    /// Returns the names of both types, for use without a service type.
    pub(crate) fn describe_short(&self) -> String {
        format!("{} -> {}", self.request.name(), self.response.name())
    }

    /// Returns the properties that other processes see: name, hash, and whether messages can leave
    /// the process.
    pub(crate) fn published(&self) -> (String, [u8; 32], bool) {
        let travels = self.travel();
        if let Some(service) = self.service {
            return (service.name.to_owned(), service.hash.0, travels);
        }
        let hash = |table: &TypeSupport| table.hash().map_or([0; 32], |hash| hash.0);
        let (request, mut both) = (hash(self.request), hash(self.response));
        // Rotated, so that two types in swapped roles give another hash.
        both.rotate_left(1);
        both.iter_mut().zip(request).for_each(|(byte, other)| *byte ^= other);
        (self.describe_short(), both, travels)
    }

    /// Whether both hold messages in the same form, and so exchange them as they are.
    pub(crate) fn agree(&self, other: &Self) -> bool {
        self.request.is(other.request) && self.response.is(other.response)
    }

    /// Whether endpoints of these types reach each other: directly, or by the encoded form of their
    /// messages, as endpoints of other processes do.
    pub(crate) fn exchange_with(&self, other: &Self) -> bool {
        let are_same = || match (self.service, other.service) {
            (Some(one), Some(another)) => one == another,
            (None, None) => {
                self.request.exchanges_with(other.request) && self.response.exchanges_with(other.response)
            }
            _ => false,
        };
        self.agree(other) || (self.travel() && other.travel() && are_same())
    }

    /// Whether requests and responses can leave the process.
    fn travel(&self) -> bool {
        self.request.encoded.is_some() && self.response.encoded.is_some()
    }

    /// Describes the types for log lines that explain why two types are not the same.
    pub(crate) fn describe(&self) -> String {
        match self.service {
            Some(ServiceType { name, hash }) => format!("{name} ({})", hash.short()),
            None => format!("{} -> {}", self.request.describe(), self.response.describe()),
        }
    }
}
