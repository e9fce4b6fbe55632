//! The test bed's command for people.
fn main() {
    println!("{:?}", testbed::doctor::examine());
    for set in testbed::programs::SETS { println!("{:?}", set.is_built()); println!("{:?}", set.ensure()); }
}
