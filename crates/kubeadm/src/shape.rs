//! How our types and kubeadm's are written down: what is unset is not printed, and both directions name every field.

/// Whether a value says nothing: unset, an empty list, a structure without a member.
pub(crate) fn says_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Structures whose members may be left out, in the spelling of kubeadm's files.
macro_rules! shape {
    ($($(#[$about:meta])* $seen:vis struct $name:ident $(<$kind:ident>)? {
        $($(#[$field_about:meta])* $field_seen:vis $field:ident: $of:ty,)*
    })+) => { $(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        $seen struct $name $(<$kind: Default + PartialEq>)? {
            $(
                $(#[$field_about])*
                #[serde(skip_serializing_if = "crate::shape::says_nothing")]
                $field_seen $field: $of,
            )*
        }
    )+ };
}

/// Both directions between a structure of the hub and kubeadm's structure with the same fields.
/// All fields are named, so that a new one on either side breaks the build.
macro_rules! mirror {
    ($($name:ident $(<$kind:ident>)? { $($field:ident),* $(,)? })+) => { $(
        impl $(<$kind: Default + PartialEq + crate::spoke::Spoke<crate::hub::Arg>>)?
            crate::spoke::Spoke<crate::hub::$name> for $name $(<$kind>)?
        {
            fn from_hub(hub: &crate::hub::$name, aside: &mut crate::aside::Aside) -> Self {
                let crate::hub::$name { $($field),* } = hub;
                Self { $($field: aside.within(stringify!($field), |aside| crate::spoke::Spoke::from_hub($field, aside))),* }
            }

            fn to_hub(&self) -> crate::hub::$name {
                let Self { $($field),* } = self;
                crate::hub::$name { $($field: crate::spoke::Spoke::to_hub($field)),* }
            }
        }
    )+ };
}

pub(crate) use {mirror, shape};
