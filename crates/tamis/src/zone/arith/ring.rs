//! How the tables of a finite field are made.

use super::primes::prime_factors;

/// Slow arithmetic on the same numbers, by digits; enough to find the generator and fill the
/// tables.
pub(super) struct Ring {
    pub(super) p: u32,
    q: u32,
    /// The modulus with its leading 1, constant term first.
    modulus: Vec<u32>,
}

impl Ring {
    pub(super) fn new(p: u32, e: u32, q: u32) -> Ring {
        Ring { p, q, modulus: smallest_irreducible(p, e, q) }
    }

    pub(super) fn mul(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (digits(self.p, a), digits(self.p, b));
        let mut product = vec![0; a.len() + b.len()];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                product[i + j] = (product[i + j] + x * y) % self.p;
            }
        }
        number(self.p, &remainder(self.p, product, &self.modulus))
    }

    fn pow(&self, a: u32, exponent: u32) -> u32 {
        let mut result = 1;
        for bit in (0..u32::BITS).rev() {
            result = self.mul(result, result);
            if exponent >> bit & 1 == 1 {
                result = self.mul(result, a);
            }
        }
        result
    }

    /// The smallest generator: no power to a maximal proper divisor of q - 1 is 1.
    pub(super) fn generator(&self) -> Option<u32> {
        let primes = prime_factors(self.q - 1);
        (1..self.q).find(|&g| primes.iter().all(|r| self.pow(g, (self.q - 1) / r) != 1))
    }

    /// The powers g^0 .. g^(q-2). Multiplication by g is linear over Z_p, so its table follows from
    /// the images of the places 1, p, p^2, .. with one addition for every element.
    pub(super) fn cycle(&self, generator: u32) -> Vec<u32> {
        let mut image = vec![0; self.q as usize];
        let mut place = 1;
        for a in 1..self.q {
            if a == place * self.p {
                place = a;
            }
            image[a as usize] = if a == place {
                self.mul(generator, a)
            } else {
                self.add(image[(a - place) as usize], image[place as usize])
            };
        }
        let step = |&a: &u32| Some(image[a as usize]);
        std::iter::successors(Some(1), step).take(self.q as usize - 1).collect()
    }

    fn add(&self, mut a: u32, mut b: u32) -> u32 {
        if self.p == 2 {
            return a ^ b;
        }
        let (mut sum, mut place) = (0, 1);
        while b > 0 {
            sum += (a % self.p + b % self.p) % self.p * place;
            (a, b, place) = (a / self.p, b / self.p, place * self.p);
        }
        sum + a * place
    }
}

/// a + 1, which changes the lowest digit only.
pub(super) fn plus_one(p: u32, a: u32) -> u32 {
    if a % p == p - 1 { a + 1 - p } else { a + 1 }
}

/// The base-p digits of a number, least significant first, without leading zeros.
fn digits(p: u32, mut number: u32) -> Vec<u32> {
    let mut digits = Vec::new();
    while number > 0 {
        digits.push(number % p);
        number /= p;
    }
    digits
}

pub(super) fn number(p: u32, digits: &[u32]) -> u32 {
    digits.iter().rev().fold(0, |number, digit| number * p + digit)
}

/// The remainder of a polynomial over Z_p by a monic one, with as many entries as the degree of the
/// latter.
fn remainder(p: u32, mut polynomial: Vec<u32>, divisor: &[u32]) -> Vec<u32> {
    let degree = divisor.len() - 1;
    for top in (degree..polynomial.len()).rev() {
        let factor = p - polynomial[top];
        for (k, &coefficient) in divisor.iter().enumerate() {
            let entry = &mut polynomial[top - degree + k];
            *entry = (*entry + factor * coefficient) % p;
        }
    }
    polynomial.truncate(degree);
    polynomial
}

/// The irreducible modulus of the specification. A monic polynomial of degree e and lower part
/// `low` has the number q + low, so the candidates are simply the numbers from q on.
pub(super) fn smallest_irreducible(p: u32, e: u32, q: u32) -> Vec<u32> {
    if e == 1 {
        return vec![0, 1];
    }
    (q..2 * q)
        .map(|candidate| digits(p, candidate))
        .find(|c| irreducible(p, e, c))
        .unwrap_or_default()
}

/// Trial division by every monic polynomial of degree 1 ..= e/2; there are at most about 2 sqrt(q)
/// of them.
fn irreducible(p: u32, e: u32, polynomial: &[u32]) -> bool {
    let divides = |divisor: u32| {
        let rest = remainder(p, polynomial.to_vec(), &digits(p, divisor));
        rest.iter().all(|&digit| digit == 0)
    };
    let mut places = (1..=e / 2).map(|degree| p.pow(degree));
    !places.any(|place| (place..2 * place).any(divides))
}
