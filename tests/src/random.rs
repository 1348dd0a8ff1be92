//! Pseudorandom numbers from a seed, so that a failed run can be repeated.

/// A generator of numbers. Equal seeds give equal numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The generator for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent generator for one part of the choices of a seed.
    #[must_use]
    pub fn part(seed: u64, part: u64) -> Self {
        Self(Self::new(seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15)).number())
    }

    /// The next number (SplitMix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// A random item. The slice must not be empty.
    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Shuffles the items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
