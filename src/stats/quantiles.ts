/** Φ(z): the series of odd powers, exact to double precision for |z| ≤ 8. */
export function normalCdf(z: number): number {
  if (z > 8) return 1;
  if (z < -8) return 0;
  let term = z;
  let sum = z;
  for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Student's t distribution function for whole degrees of freedom (the finite cosine series). */
export function studentCdf(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const cosine = Math.cos(angle);
  const odd = degrees % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  const inside = odd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
  return 0.5 + inside / 2;
}

/** z with Φ(z) = `probability`. */
export function normalQuantile(probability: number): number {
  return invert(normalCdf, probability, 8);
}

/** t with F(t) = `probability`; `degrees` is a whole number ≥ 1. Beyond 1,000 the normal's is used. */
export function studentQuantile(probability: number, degrees: number): number {
  if (degrees > 1000) return normalQuantile(probability);
  return invert((t) => studentCdf(t, degrees), probability, 1e6);
}

/** Bisection of an increasing function: a hundred halvings reach the last bit. */
function invert(increasing: (x: number) => number, target: number, bound: number): number {
  let low = -bound;
  let high = bound;
  for (let halving = 0; halving < 100; halving++) {
    const middle = (low + high) / 2;
    if (increasing(middle) < target) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
