//! `#[derive(Parameters)]`: a struct of parameters, or an enum that is one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, ExprLit, ExprRange, ExprUnary, Fields, Lit, LitStr,
    Meta, Path, RangeLimits, Result, UnOp,
};

pub(crate) fn expand(input: &DeriveInput, root: &TokenStream) -> Result<TokenStream> {
    if let Some(generics) = input.generics.params.first() {
        let problem = "a struct of parameters has no type parameters: write one for each type that you need";
        return Err(Error::new_spanned(generics, problem));
    }
    let validate = validation(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                let fields = fields.named.iter().map(Field::of).collect::<Result<Vec<_>>>()?;
                Ok(of_struct(input, &fields, validate.as_ref(), root))
            }
            _ => Err(Error::new(input.ident.span(), "parameters have names: `struct Name { field: Type }`")),
        },
        Data::Enum(data) => match &validate {
            Some(path) => Err(Error::new_spanned(
                path,
                "an enum is one parameter, whose values are its variants: there is nothing to validate",
            )),
            None => of_enum(input, data, root),
        },
        Data::Union(_) => {
            Err(Error::new(input.ident.span(), "a union has no parameters: write a struct or an enum"))
        }
    }
}

/// Parses `#[parameters(validate = PATH)]`.
fn validation(attributes: &[Attribute]) -> Result<Option<Path>> {
    let mut validate = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("parameters")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("validate") {
                return Err(meta.error("unknown; there is `validate = path::of::a::function`"));
            }
            if validate.replace(meta.value()?.parse()?).is_some() {
                return Err(meta.error("said twice"));
            }
            Ok(())
        })?;
    }
    if let Some(attribute) = attributes.iter().find(|attribute| attribute.path().is_ident("parameter")) {
        return Err(Error::new_spanned(
            attribute,
            "`parameter` is for fields and variants; here it is `parameters`",
        ));
    }
    Ok(validate)
}

/// The contents of `#[parameter(..)]` above a field.
#[derive(Default)]
struct Said {
    name: Option<LitStr>,
    default: Option<Expr>,
    range: Option<Expr>,
    step: Option<Expr>,
    constraints: Option<LitStr>,
    read_only: bool,
}

impl Said {
    fn of(attributes: &[Attribute], is_variant: bool) -> Result<Self> {
        let mut said = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("parameter")) {
            attribute.parse_nested_meta(|meta| {
                let twice = if meta.path.is_ident("name") {
                    said.name.replace(meta.value()?.parse()?).is_some()
                } else if is_variant {
                    return Err(meta.error("unknown; of a variant there is `name = \"..\"`"));
                } else if meta.path.is_ident("default") {
                    said.default.replace(meta.value()?.parse()?).is_some()
                } else if meta.path.is_ident("range") {
                    said.range.replace(meta.value()?.parse()?).is_some()
                } else if meta.path.is_ident("step") {
                    said.step.replace(meta.value()?.parse()?).is_some()
                } else if meta.path.is_ident("constraints") {
                    said.constraints.replace(meta.value()?.parse()?).is_some()
                } else if meta.path.is_ident("read_only") {
                    std::mem::replace(&mut said.read_only, true)
                } else {
                    return Err(meta.error(
                        "unknown; there is `default = ..`, `range = A..=B`, `step = S`, `read_only`, `name = \"..\"` and \
                         `constraints = \"..\"`",
                    ));
                };
                if twice { Err(meta.error("said twice")) } else { Ok(()) }
            })?;
        }
        if let (None, Some(step)) = (&said.range, &said.step) {
            return Err(Error::new_spanned(step, "a step needs a `range`, from whose beginning it counts"));
        }
        if let Some(name) = said.name.as_ref().filter(|name| name.value().is_empty()) {
            return Err(Error::new_spanned(name, "a name has at least one character"));
        }
        Ok(said)
    }
}

/// Returns an item's documentation as one text.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns whether a value is a literal, to be converted to the field's type: `-1`, `"a"`, `[0.0;
/// 3]`.
fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => {
            matches!(lit, Lit::Int(_) | Lit::Float(_) | Lit::Str(_) | Lit::Bool(_))
        }
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => is_literal(expr),
        Expr::Array(_) | Expr::Repeat(_) => true,
        _ => false,
    }
}

struct Field<'a> {
    field: &'a syn::Field,
    name: String,
    said: Said,
}

impl<'a> Field<'a> {
    fn of(field: &'a syn::Field) -> Result<Self> {
        let said = Said::of(&field.attrs, false)?;
        let own = || field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        let name = said.name.as_ref().map_or_else(own, LitStr::value);
        Ok(Self { field, name, said })
    }

    fn declaration(&self, root: &TokenStream) -> TokenStream {
        let Self { field, name, said } = self;
        let (ty, description) = (&field.ty, documentation(&field.attrs));
        let default = said.default.as_ref().map(|value| match is_literal(value) {
            // An empty array says nothing about the type of its elements.
            _ if matches!(value, Expr::Array(array) if array.elems.is_empty()) => {
                quote_spanned!(value.span()=> .default_of(#root::NoElements))
            }
            true => quote_spanned!(value.span()=> .default_of(#value)),
            false => quote_spanned!(value.span()=> .default(#value)),
        });
        let range = said.range.as_ref().map(|range| {
            let step = said.step.as_ref();
            match (range, step) {
                (
                    Expr::Range(ExprRange {
                        start: Some(from),
                        limits: RangeLimits::Closed(_),
                        end: Some(to),
                        ..
                    }),
                    step,
                ) => {
                    let step = step.map(|step| quote!(.step_of(#step)));
                    quote_spanned!(range.span()=> .range_of(#from, #to) #step)
                }
                (range, Some(step)) => quote_spanned!(range.span()=> .range(#range).step_of(#step)),
                (range, None) => quote_spanned!(range.span()=> .range(#range)),
            }
        });
        let constraints = said.constraints.as_ref().map(|text| quote!(.constraints(#text)));
        let read_only = said.read_only.then(|| quote!(.read_only()));
        // Without a default, use the type's `Default`, if it has one: `OrStandard` finds out.
        let standard = said.default.is_none().then(|| quote!(.or_standard()));
        quote_spanned! {ty.span()=>
            <#ty as #root::Field>::declare(
                &#root::join(prefix, #name),
                {
                    #[allow(unused_imports, reason = "of types with a default only")]
                    use #root::OrStandard as _;
                    #root::Spec::<#ty>::new(#description) #default #range #constraints #read_only #standard
                },
                read_only,
                to,
            );
        }
    }
}

fn of_struct(
    input: &DeriveInput,
    fields: &[Field<'_>],
    validate: Option<&Path>,
    root: &TokenStream,
) -> TokenStream {
    let ident = &input.ident;
    let declarations = fields.iter().map(|field| field.declaration(root));
    let idents: Vec<_> = fields.iter().filter_map(|field| field.field.ident.as_ref()).collect();
    let types: Vec<_> = fields.iter().map(|field| &field.field.ty).collect();
    let names = fields.iter().map(|field| &field.name);
    let validate = validate.map(|path| {
        quote_spanned!(path.span()=> #path(self).map_err(|error| ::std::string::ToString::to_string(&error))?;)
    });
    quote! {
        #[automatically_derived]
        impl #root::Parameters for #ident {
            fn declare_in(prefix: &str, read_only: bool, to: &mut #root::Declarations) {
                #(#declarations)*
            }

            fn read(
                prefix: &str,
                values: &#root::Values,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                ::core::result::Result::Ok(Self {
                    #(#idents: <#types as #root::Field>::read(&#root::join(prefix, #names), values)?,)*
                })
            }

            fn validate(&self) -> ::core::result::Result<(), ::std::string::String> {
                #(<#types as #root::Field>::validate(&self.#idents)?;)*
                #validate
                ::core::result::Result::Ok(())
            }
        }

        #[automatically_derived]
        impl #root::Field for #ident {
            fn declare(name: &str, spec: #root::Spec<Self>, read_only: bool, to: &mut #root::Declarations) {
                <Self as #root::Parameters>::declare_in(name, read_only || spec.is_read_only(), to);
            }

            fn read(
                name: &str,
                values: &#root::Values,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                <Self as #root::Parameters>::read(name, values)
            }

            fn validate(&self) -> ::core::result::Result<(), ::std::string::String> {
                <Self as #root::Parameters>::validate(self)
            }
        }
    }
}

fn of_enum(input: &DeriveInput, data: &DataEnum, root: &TokenStream) -> Result<TokenStream> {
    let ident = &input.ident;
    let mut names: Vec<String> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let problem = "a parameter's value is a variant's name, so variants have no fields; settings for one go into a struct beside it";
            return Err(Error::new_spanned(&variant.fields, problem));
        }
        let said = Said::of(&variant.attrs, true)?;
        let name =
            said.name.map_or_else(|| snake_case(&variant.ident.unraw().to_string()), |name| name.value());
        if names.contains(&name) {
            return Err(Error::new_spanned(variant, format!("another variant is called `{name}` as well")));
        }
        names.push(name);
    }
    if names.is_empty() {
        return Err(Error::new(ident.span(), "an enum without variants has no value"));
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let indices: Vec<_> = (0..variants.len()).collect();
    let choice = format_ident!("choice");
    Ok(quote! {
        #[automatically_derived]
        impl #root::ChoiceField for #ident {
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn of_index(index: usize) -> ::core::option::Option<Self> {
                match index {
                    #(#indices => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }

            fn index(&self) -> usize {
                match self {
                    #(Self::#variants => #indices,)*
                }
            }
        }

        #[automatically_derived]
        impl #root::ParameterField for #ident {
            const TYPE: #root::ParameterType = #root::ParameterType::String;
            type Cell = #root::ChoiceCell;

            fn from_value(
                value: &#root::ParameterValue,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                #root::#choice(value)
            }

            fn into_value(
                self,
            ) -> ::core::result::Result<#root::ParameterValue, ::std::string::String> {
                let name = <Self as #root::ChoiceField>::NAMES[#root::ChoiceField::index(&self)];
                ::core::result::Result::Ok(#root::ParameterValue::from(name))
            }

            fn constrain(descriptor: &mut #root::ParameterDescriptor) {
                #root::constrain_choice::<Self>(descriptor);
            }
        }
    })
}

/// Converts `GoAround` to `go_around`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut before = None;
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        let begins = character.is_uppercase()
            && before.is_some_and(|before: char| {
                before != '_'
                    && (!before.is_uppercase() || rest.peek().is_some_and(|next| next.is_lowercase()))
            });
        if begins {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
        before = Some(character);
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn variants_have_names_in_snake_case() {
        for (name, expected) in [
            ("Stop", "stop"),
            ("GoAround", "go_around"),
            ("UsbC", "usb_c"),
            ("HTTPServer", "http_server"),
            ("V2", "v2"),
            ("already_so", "already_so"),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }
}
