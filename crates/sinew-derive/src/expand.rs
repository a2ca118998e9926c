//! Expands a struct to its implementations.

use crate::attributes::{Attributes, is_repr_c, refuse_on_field};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataStruct, DeriveInput, Error, Fields, Ident, Result, Type};

/// The struct, after its checks.
struct Structure<'a> {
    ident: &'a Ident,
    /// The ROS 2 name.
    name: String,
    fields: Vec<Field<'a>>,
}

struct Field<'a> {
    ident: &'a Ident,
    /// The name without `r#`.
    name: String,
    ty: &'a Type,
}

impl<'a> Field<'a> {
    fn of(field: &'a syn::Field) -> Option<Self> {
        let ident = field.ident.as_ref()?;
        Some(Self { ident, name: ident.unraw().to_string(), ty: &field.ty })
    }

    /// Refuses names that no field has in ROS 2. The hash of the type is made of a text in ASCII.
    fn check_name(&self) -> Result<()> {
        if self.name.is_ascii() {
            return Ok(());
        }
        let problem = format!(
            "the field `{}` has letters that ROS 2 has in no name; use the letters a to z, digits and `_`",
            self.name
        );
        Err(Error::new(self.ident.span(), problem))
    }

    /// Returns the type as a `Field`. If it is none, the compiler points at the field.
    fn encoded(&self, root: &TokenStream) -> TokenStream {
        let ty = self.ty;
        quote_spanned!(ty.span()=> <#ty as #root::cdr::Field>)
    }
}

/// Returns the implementations for `input`, in a crate where `root` is the path of `sinew-msg`'s
/// items.
pub(crate) fn message(input: &DeriveInput, root: &TokenStream) -> Result<TokenStream> {
    let attributes = Attributes::of(input)?;
    let structure = Structure {
        ident: &input.ident,
        name: attributes.name(&input.ident.unraw().to_string(), input.ident.span())?,
        fields: fields(input)?,
    };
    if let Some(generics) = input.generics.params.first() {
        let problem = "a message that leaves its process is one type with one name, so it has no parameters; \
                       write a struct for each type that you need";
        return Err(Error::new_spanned(generics, problem));
    }
    if let Some(word) = &attributes.plain
        && !is_repr_c(input)?
    {
        let problem = "a plain message needs `#[repr(C)]`: otherwise its fields lie in memory in any order";
        return Err(Error::new(word.span(), problem));
    }
    if let Some(word) = attributes.plain.as_ref().filter(|_| structure.fields.is_empty()) {
        let problem = "a message without fields is not plain: its encoded form has one byte, and its value none; \
                       leave out `plain`";
        return Err(Error::new(word.span(), problem));
    }
    let plain = attributes.plain.is_some();
    let as_message = structure.as_message(root, plain);
    let as_field = structure.as_field(root, plain);
    let as_plain = plain.then(|| structure.as_plain(root));
    Ok(quote!(#as_message #as_field #as_plain))
}

fn fields(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let problem = match &input.data {
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => {
            fields.named.iter().try_for_each(|field| refuse_on_field(&field.attrs))?;
            let fields: Vec<_> = fields.named.iter().filter_map(Field::of).collect();
            fields.iter().try_for_each(Field::check_name)?;
            return Ok(fields);
        }
        Data::Struct(_) => {
            "the fields of a message that leaves its process have names: `struct Name { field: Type }`, or \
             `struct Name {}` for none"
        }
        Data::Enum(_) => {
            "ROS 2 has no enums, so a message that leaves its process is a struct: let it have an integer field, with \
             constants for its values. (One that stays in its process can be an enum: `impl Message for ..` {} \
             instead of the derive.)"
        }
        Data::Union(_) => "ROS 2 has no unions, so a message that leaves its process is a struct",
    };
    Err(Error::new(input.ident.span(), problem))
}

impl Structure<'_> {
    fn as_message(&self, root: &TokenStream, plain: bool) -> TokenStream {
        let Self { ident, name, fields } = self;
        let names = fields.iter().map(|field| &field.name);
        let encoded = fields.iter().map(|field| field.encoded(root));
        let encoding = if plain { quote!(plain_encoding) } else { quote!(encoding) };
        quote! {
            #[automatically_derived]
            impl #root::Message for #ident {
                const ENCODING: ::core::option::Option<&'static #root::Encoding<Self>> = {
                    const TABLE: #root::Encoding<#ident> = #root::cdr::#encoding::<#ident>();
                    ::core::option::Option::Some(&TABLE)
                };
            }

            #[automatically_derived]
            impl #root::cdr::Structure for #ident {
                const NAME: &'static str = #name;
                const DESCRIPTION: &'static #root::cdr::description::ConstDescription =
                    &#root::cdr::description::ConstDescription {
                        name: #name,
                        fields: &[#((#names, #encoded::TYPE)),*],
                    };
                // Quick, but not by the standards of constants.
                #[allow(long_running_const_eval, reason = "its end is in sight: it hashes one text")]
                const HASH: #root::TypeHash = <Self as #root::cdr::Structure>::DESCRIPTION.hash();
            }
        }
    }

    fn as_field(&self, root: &TokenStream, plain: bool) -> TokenStream {
        let Self { ident, name, fields } = self;
        let encoded: Vec<_> = fields.iter().map(|field| field.encoded(root)).collect();
        let idents: Vec<_> = fields.iter().map(|field| field.ident).collect();
        let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
        if fields.is_empty() {
            return self.as_empty_field(root);
        }
        let first = &encoded[0];
        let bulk = plain.then(|| bulk(root));
        quote! {
            #[automatically_derived]
            impl #root::cdr::Field for #ident {
                const TYPE: #root::cdr::description::ConstFieldType = #root::cdr::description::ConstFieldType::structure(
                    <Self as #root::cdr::Structure>::DESCRIPTION,
                );
                const ALIGNMENT: usize = #first::ALIGNMENT;
                const LEAST: usize = 0 #(+ #encoded::LEAST)*;

                fn end(&self, at: usize) -> usize {
                    #(let at = #encoded::end(&self.#idents, at);)*
                    at
                }

                fn encode(&self, encoder: &mut #root::cdr::Encoder<'_>) {
                    #(#encoded::encode(&self.#idents, encoder);)*
                }

                fn decode(
                    decoder: &mut #root::cdr::Decoder<'_>,
                ) -> ::core::result::Result<Self, #root::cdr::Fault> {
                    ::core::result::Result::Ok(Self {
                        #(#idents: #encoded::decode(decoder).map_err(|fault| fault.in_field(#name, #names))?,)*
                    })
                }

                fn decode_into(
                    &mut self,
                    decoder: &mut #root::cdr::Decoder<'_>,
                ) -> ::core::result::Result<(), #root::cdr::Fault> {
                    #(
                        #encoded::decode_into(&mut self.#idents, decoder)
                            .map_err(|fault| fault.in_field(#name, #names))?;
                    )*
                    ::core::result::Result::Ok(())
                }

                #bulk
            }
        }
    }

    /// ROS 2 gives a struct without fields one byte, `structure_needs_at_least_one_member`.
    fn as_empty_field(&self, root: &TokenStream) -> TokenStream {
        let Self { ident, name, .. } = self;
        quote! {
            #[automatically_derived]
            impl #root::cdr::Field for #ident {
                const TYPE: #root::cdr::description::ConstFieldType = #root::cdr::description::ConstFieldType::structure(
                    <Self as #root::cdr::Structure>::DESCRIPTION,
                );
                const ALIGNMENT: usize = 1;
                const LEAST: usize = 1;

                fn end(&self, at: usize) -> usize {
                    at + 1
                }

                fn encode(&self, encoder: &mut #root::cdr::Encoder<'_>) {
                    encoder.write(&[0]);
                }

                fn decode(
                    decoder: &mut #root::cdr::Decoder<'_>,
                ) -> ::core::result::Result<Self, #root::cdr::Fault> {
                    decoder.take(1).map_err(|fault| fault.in_field(#name, "structure_needs_at_least_one_member"))?;
                    ::core::result::Result::Ok(Self {})
                }
            }
        }
    }

    /// Returns the proof that the struct is plain, and the promise that rests on it.
    fn as_plain(&self, root: &TokenStream) -> TokenStream {
        let Self { ident, fields, .. } = self;
        let steps = fields.iter().map(|field| {
            let Field { ident: field, name, ty } = field;
            let gap = format!(
                "`{ident}` is not plain: there is padding before `{name}`; put larger fields before smaller ones, or fill the \
                 gap with a field, e.g. `reserved: [u8; 4]`"
            );
            quote_spanned! {ty.span()=>
                needs_plain::<#ty>();
                // Without a gap CDR leaves none either: it aligns the numbers in a field to no more
                // than memory does.
                ::core::assert!(::core::mem::offset_of!(#ident, #field) == end, #gap);
                end += ::core::mem::size_of::<#ty>();
            }
        });
        let padded = format!(
            "`{ident}` is not plain: there is padding at its end; fill it with a field, e.g. `reserved: [u8; 4]`"
        );
        quote! {
            const _: () = {
                const fn needs_plain<T: #root::Plain>() {}
                let mut end = 0_usize;
                #(#steps)*
                ::core::assert!(::core::mem::size_of::<#ident>() == end, #padded);
                ::core::assert!(::core::mem::align_of::<#ident>() <= 8, "no plain type has an alignment above 8");
            };

            // SAFETY: the constant above does not compile unless all fields are plain, so all zeros
            // are a valid value.
            #[automatically_derived]
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "proved by the constant above")]
            unsafe impl #root::bytemuck::Zeroable for #ident {}

            // SAFETY: as above, all fields are plain; each begins where the previous one ends, and
            // the struct ends with the last, so there is no padding.
            #[automatically_derived]
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "proved by the constant above")]
            unsafe impl #root::bytemuck::Pod for #ident {}

            // SAFETY: as above. In an encoded message in which the struct begins at a multiple of
            // its alignment, each field lies at a multiple of its own alignment, so that CDR needs
            // no padding either.
            #[automatically_derived]
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "proved by the constant above")]
            unsafe impl #root::Plain for #ident {}
        }
    }
}

/// Returns the methods that a plain type implements faster than element by element.
fn bulk(root: &TokenStream) -> TokenStream {
    quote! {
        fn end_slice(values: &[Self], at: usize) -> usize {
            #root::cdr::bulk::end_slice(values, at)
        }

        fn encode_slice(values: &[Self], encoder: &mut #root::cdr::Encoder<'_>) {
            #root::cdr::bulk::encode_slice(values, encoder);
        }

        fn decode_slice(
            values: &mut [Self],
            decoder: &mut #root::cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), #root::cdr::Fault> {
            #root::cdr::bulk::decode_slice(values, decoder)
        }

        fn decode_array<const N: usize>(
            decoder: &mut #root::cdr::Decoder<'_>,
        ) -> ::core::result::Result<[Self; N], #root::cdr::Fault> {
            #root::cdr::bulk::decode_array(decoder)
        }

        fn decode_sequence(
            values: &mut ::std::vec::Vec<Self>,
            count: usize,
            decoder: &mut #root::cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), #root::cdr::Fault> {
            #root::cdr::bulk::decode_sequence(values, count, decoder)
        }
    }
}
