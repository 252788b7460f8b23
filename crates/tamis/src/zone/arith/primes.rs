//! Primes: one sieve, and what is read off it.

/// The smallest prime factor of every number below a limit.
pub(crate) struct Sieve {
    smallest_factor: Vec<u32>,
    primes: Vec<u32>,
}

/// The largest limit of a sieve: its table then takes 64 MiB.
const MAX_LIMIT: usize = 1 << 24;

impl Sieve {
    /// The sieve of Eratosthenes for the numbers below `limit`.
    pub(crate) fn new(limit: usize) -> Sieve {
        let limit = limit.min(MAX_LIMIT);
        let mut smallest_factor = vec![0u32; limit];
        let mut primes = Vec::new();
        for number in 2..limit {
            if smallest_factor[number] != 0 {
                continue;
            }
            smallest_factor[number] = number as u32;
            primes.push(number as u32);
            // Smaller multiples have a smaller factor.
            for multiple in (number.saturating_mul(number)..limit).step_by(number) {
                if smallest_factor[multiple] == 0 {
                    smallest_factor[multiple] = number as u32;
                }
            }
        }
        Sieve { smallest_factor, primes }
    }

    /// The numbers below this one are known.
    pub(crate) fn limit(&self) -> u32 {
        self.smallest_factor.len() as u32
    }

    /// The primes below the limit, ascending.
    pub(crate) fn primes(&self) -> &[u32] {
        &self.primes
    }

    /// The distinct prime factors of a number below the limit, ascending.
    pub(crate) fn factors(&self, mut number: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            let prime = *self.smallest_factor.get(number as usize)?;
            if prime == 0 {
                return None;
            }
            while number.is_multiple_of(prime) {
                number /= prime;
            }
            Some(prime)
        })
    }
}

/// The first `count` primes.
pub(crate) fn first_primes(count: usize) -> Vec<u64> {
    let mut limit = 64;
    loop {
        let sieve = Sieve::new(limit);
        if sieve.primes.len() >= count || limit >= MAX_LIMIT {
            return sieve.primes.iter().take(count).map(|prime| u64::from(*prime)).collect();
        }
        limit *= 2;
    }
}

/// The first primes whose sum is at most `bits`.
pub(crate) fn primes_within(bits: u64) -> Vec<u64> {
    // The primes below x add up to more than x^2 / (3 ln x). So those below the square root of 40
    // times the bits are more than enough.
    let limit = (bits.min(1 << 40) * 40).isqrt() + 64;
    let mut rest = bits;
    let fits = |prime: &u64| {
        let fits = *prime <= rest;
        rest = rest.saturating_sub(*prime);
        fits
    };
    let sieve = Sieve::new(limit as usize + 1);
    sieve.primes.iter().map(|prime| u64::from(*prime)).take_while(fits).collect()
}

/// The prime powers from 2 to `last`, ascending.
pub(crate) fn prime_powers(last: u32) -> impl Iterator<Item = u32> {
    let sieve = Sieve::new(last as usize + 1);
    (2..=last).filter(move |&q| {
        let prime = sieve.smallest_factor[q as usize];
        let mut rest = q;
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
        rest == 1
    })
}

/// The prime p and the exponent e with q = p^e, if there are such.
pub(crate) fn prime_power(q: u32) -> Option<(u32, u32)> {
    match prime_factors(q)[..] {
        [prime] => Some((prime, q.ilog(prime))),
        _ => None,
    }
}

/// The distinct primes that divide a number, ascending, by trial division.
pub(crate) fn prime_factors(mut number: u32) -> Vec<u32> {
    let mut primes = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= number {
        if number.is_multiple_of(candidate) {
            primes.push(candidate);
        }
        while number.is_multiple_of(candidate) {
            number /= candidate;
        }
        candidate += 1;
    }
    if number > 1 {
        primes.push(number);
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_prime(number: u32) -> bool {
        number > 1 && (2..number).take_while(|d| d * d <= number).all(|d| !number.is_multiple_of(d))
    }

    #[test]
    fn the_sieve_agrees_with_trial_division() {
        for limit in [0, 1, 2, 3, 4, 100, 5000] {
            let sieve = Sieve::new(limit);
            let plain: Vec<u32> = (0..limit as u32).filter(|n| is_prime(*n)).collect();
            assert_eq!(sieve.primes(), plain);
            for number in 1..limit as u32 {
                let factors: Vec<u32> = sieve.factors(number).collect();
                assert_eq!(factors, prime_factors(number), "{number}");
                assert!(factors.iter().all(|p| is_prime(*p) && number.is_multiple_of(*p)));
            }
        }
    }

    #[test]
    fn first_primes_are_counted_and_summed() {
        assert!(first_primes(0).is_empty());
        assert_eq!(first_primes(5), [2, 3, 5, 7, 11]);
        assert_eq!(first_primes(8192).len(), 8192);
        for bits in 0..200 {
            let within = primes_within(bits);
            assert!(within.iter().sum::<u64>() <= bits);
            assert!(first_primes(within.len() + 1).iter().sum::<u64>() > bits);
        }
    }

    #[test]
    fn prime_powers_are_recognised() {
        assert_eq!((prime_power(0), prime_power(1), prime_power(6)), (None, None, None));
        assert_eq!((prime_power(2), prime_power(64)), (Some((2, 1)), Some((2, 6))));
        assert_eq!((prime_power(65_521), prime_power(59_049)), (Some((65_521, 1)), Some((3, 10))));
        let plain = |q: &u32| {
            (2..=*q).find(|d| q.is_multiple_of(*d)).is_some_and(|p| p.pow(q.ilog(p)) == *q)
        };
        let powers: Vec<u32> = (2..=20_000).filter(plain).collect();
        assert!(powers.iter().all(|q| prime_power(*q).is_some_and(|(p, e)| p.pow(e) == *q)));
        assert_eq!(prime_powers(20_000).collect::<Vec<u32>>(), powers);
        assert_eq!((2..=20_000).filter(|q| prime_power(*q).is_some()).count(), powers.len());
    }
}
