//! A spoke is a kubeadm API version's form of a type of the hub.
use crate::{
    aside::Aside,
    scalar::{Duration, Quantity, Time},
};
use secret::Secret;
use std::collections::BTreeMap;

/// The form that one kubeadm API version gives to the hub's type `H`.
pub(crate) trait Spoke<H>: Sized {
    /// The nearest that this version can say; what does not fit goes aside. Losses depend on the value.
    fn from_hub(hub: &H, aside: &mut Aside) -> Self;
    /// What a value of this version says.
    fn to_hub(&self) -> H;
}

macro_rules! the_same_everywhere {
    ($($scalar:ty),*) => { $(
        impl Spoke<$scalar> for $scalar {
            fn from_hub(hub: &$scalar, _: &mut Aside) -> Self {
                hub.clone()
            }

            fn to_hub(&self) -> $scalar {
                self.clone()
            }
        }
    )* };
}

the_same_everywhere!(String, bool, i32, i64, Duration, Quantity, Secret<String>, Time, BTreeMap<String, bool>);

impl<H, S: Spoke<H>> Spoke<Option<H>> for Option<S> {
    fn from_hub(hub: &Option<H>, aside: &mut Aside) -> Self {
        hub.as_ref().map(|hub| S::from_hub(hub, aside))
    }

    fn to_hub(&self) -> Option<H> {
        self.as_ref().map(S::to_hub)
    }
}

impl<H, S: Spoke<H>> Spoke<Vec<H>> for Vec<S> {
    fn from_hub(hub: &Vec<H>, aside: &mut Aside) -> Self {
        hub.iter().map(|hub| S::from_hub(hub, aside)).collect()
    }

    fn to_hub(&self) -> Vec<H> {
        self.iter().map(S::to_hub).collect()
    }
}
