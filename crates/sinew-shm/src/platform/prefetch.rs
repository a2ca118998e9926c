//! Hints to the processor: fetch a cache line before it is used. They are for crates of Sinew.
//!
//! An address is only named: a hint reads and writes nothing, and fails nowhere.

/// Fetches the cache line at this address for reading.
#[inline]
pub fn for_reading(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, see above.
    unsafe {
        std::arch::asm!("prefetcht0 [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    let _ = address;
}

/// Fetches the cache line at this address for writing: no other core has it then.
#[inline]
pub fn for_writing(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, see above; processors without it take it for a `nop`.
    unsafe {
        std::arch::asm!("prefetchw [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    let _ = address;
}
