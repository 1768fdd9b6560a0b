// Exact l1 sparse coding on a GPU: each warp codes one document after another, as coding.py does on a processor core.
//
// Sums to which several lanes add are kept as whole numbers and lists are packed in order, so that the same input gives
// the same bits however the warps are scheduled.

#define ALL 0xffffffffu
#define UNBOUNDED __longlong_as_double(0x7ff0000000000000LL)
constexpr int IDLE_PIVOTS = 30;
constexpr double TIE_WIDTH = 1e-13;
constexpr double SMALLEST_PIVOT = 1e-11;
typedef unsigned long long Whole;

__device__ double sum_of(double mine) {
  for (int step = 16; step; step >>= 1) mine += __shfl_down_sync(ALL, mine, step);
  return __shfl_sync(ALL, mine, 0);
}

__device__ double largest_of(double mine) {
  for (int step = 16; step; step >>= 1) mine = fmax(mine, __shfl_down_sync(ALL, mine, step));
  return __shfl_sync(ALL, mine, 0);
}

// The smallest key and who has it; of equal keys the smallest number.
__device__ void smallest_of(double& key, int& who) {
  for (int step = 16; step; step >>= 1) {
    double other = __shfl_down_sync(ALL, key, step);
    int name = __shfl_down_sync(ALL, who, step);
    if (name >= 0 && (who < 0 || other < key || (other == key && name < who))) { key = other; who = name; }
  }
  key = __shfl_sync(ALL, key, 0);
  who = __shfl_sync(ALL, who, 0);
}

// Where this lane's entry goes in a list that is packed in order; `length` grows by those that are kept.
__device__ int packed(bool keep, int lane, int& length) {
  unsigned kept = __ballot_sync(ALL, keep);
  int at = length + __popc(kept & ((1u << lane) - 1));
  length += __popc(kept);
  return at;
}

extern "C" __global__ void code_documents(
    int n, int k, int widest, long long room, double alpha, double over, double tolerance, int max_pivots, double scale,
    const int* ptr, const int* columns, const double* values,            // documents
    const int* term_ptr, const int* holders, const double* term_values,  // atoms, term by term
    const Whole* whole_values, const double* mass,
    // scratch of each warp
    Whole* all_share, int* all_place, int* all_atom, double* all_gain, double* all_code, double* all_slope,
    int* all_nonbasic, int* all_origin, int* all_shared, double* all_tableau,
    // results, one a document; codes and prices in the places of its terms
    double* objective, double* nearest, int* pivots, int* survivors, double* violation, int* n_codes, int* code_atoms,
    double* code_values, double* duals, int* next) {
  const int lane = threadIdx.x;
  const long long warp = blockIdx.x;
  Whole* share = all_share + warp * k;
  int* place = all_place + warp * k;
  int* atom = all_atom + warp * k;
  double* gain = all_gain + warp * k;
  double* code = all_code + warp * k;
  double* slope = all_slope + warp * k;
  int* nonbasic = all_nonbasic + warp * k;
  int* origin = all_origin + warp * k;
  int* shared = all_shared + warp * k;
  double* T = all_tableau + warp * room;
  extern __shared__ double fast[];
  double* weight = fast;
  double* value = weight + widest;
  double* point = value + widest;
  double* price = point + widest;
  int* term = (int*)(price + widest);
  int* source = term + widest;
  int* basic = source + widest;
  int* owner = basic + widest;
  int* below = owner + widest;
  unsigned* touched = (unsigned*)(below + widest);
  const int words = (k + 31) / 32;
  const double cap = 1.0 + over;
  for (int w = lane; w < words; w += 32) touched[w] = 0;
  __syncwarp();

  while (true) {
    int i = lane == 0 ? atomicAdd(next, 1) : 0;
    i = __shfl_sync(ALL, i, 0);
    if (i >= n) return;
    const int begin = ptr[i], end = ptr[i + 1];

    // Screen: each atom's mass on the document's terms.
    double total = 0.0;
    int n_terms = 0;
    for (int first = begin; first < end; first += 32) {
      int q = first + lane;
      bool inside = q < end;
      int v = inside ? columns[q] : 0;
      int from = inside ? term_ptr[v] : 0, to = inside ? term_ptr[v + 1] : 0;
      double p = inside ? values[q] : 0.0;
      total += p;
      int at = packed(to > from, lane, n_terms);
      if (to > from) { term[at] = v; weight[at] = p; source[at] = q; }
      for (int h = from; h < to; h++) {
        int j = holders[h];
        atomicAdd(&share[j], whole_values[h]);
        atomicOr(&touched[j >> 5], 1u << (j & 31));
      }
    }
    total = sum_of(total);
    __syncwarp();
    double best = -over - alpha;
    int n_survivors = 0;
    for (int first = 0; first < words; first += 32) {
      int w = first + lane;
      unsigned bits = w < words ? touched[w] : 0u, kept = 0u;
      if (bits) touched[w] = 0u;
      for (unsigned left = bits; left; left &= left - 1) {
        int bit = __ffs(left) - 1, j = 32 * w + bit;
        double d = cap * ((double)share[j] / scale) - over * mass[j] - alpha;
        best = fmax(best, d);
        if (d > 0.0) kept |= 1u << bit;
        else share[j] = 0;
      }
      int before = __popc(kept);
      for (int step = 1; step < 32; step <<= 1) {
        int other = __shfl_up_sync(ALL, before, step);
        if (lane >= step) before += other;
      }
      int c = n_survivors + before - __popc(kept);
      n_survivors += __shfl_sync(ALL, before, 31);
      for (unsigned left = kept; left; left &= left - 1, c++) {
        int j = 32 * w + __ffs(left) - 1;
        atom[c] = j;
        gain[c] = cap * ((double)share[j] / scale) - over * mass[j] - alpha;
        place[j] = c;
        code[c] = 0.0;
        shared[c] = 0;
        share[j] = 0;
      }
    }
    best = largest_of(best);
    __syncwarp();
    int made = 0, count = 0;
    double change = 0.0, wrong = 0.0;
    if (n_survivors > 0 && (long long)n_survivors * n_terms > room) wrong = UNBOUNDED;  // for the host
    else if (n_survivors > 0) {
      // The tableau: survivor by row, a row for each term that a survivor covers.
      const int stride = n_terms;
      int n_rows = 0;
      for (int z = lane; z < n_survivors * stride; z += 32) T[z] = 0.0;
      __syncwarp();
      for (int first = 0; first < n_terms; first += 32) {
        int q = first + lane;
        bool inside = q < n_terms, covers = false;
        int v = inside ? term[q] : 0, at = inside ? source[q] : 0;
        double p = inside ? weight[q] : 0.0;
        for (int h = inside ? term_ptr[v] : 0; h < (inside ? term_ptr[v + 1] : 0); h++) covers |= place[holders[h]] >= 0;
        int r = packed(covers, lane, n_rows);
        __syncwarp();
        if (covers) {
          term[r] = v; source[r] = at; weight[r] = p; price[r] = 0.0;
          int one = -1;
          for (int h = term_ptr[v]; h < term_ptr[v + 1]; h++) {
            int c = place[holders[h]];
            if (c < 0) continue;
            T[c * stride + r] = term_values[h];
            if (one < 0) one = c;
            else shared[one] = shared[c] = 1;
          }
        }
        __syncwarp();
      }
      // Atoms alone on their rows, in closed form: the cost falls until the ratios that were passed weigh enough.
      int n_kept = 0;
      for (int first = 0; first < n_survivors; first += 32) {
        int c = first + lane;
        bool keep = c < n_survivors && shared[c];
        int at = packed(keep, lane, n_kept);
        if (keep) { origin[at] = c; slope[at] = -gain[c]; nonbasic[at] = at; }
        else if (c < n_survivors) {
          const double* column = T + c * stride;
          double along = -gain[c], passed = -1.0;
          int row = -1;
          while (along < 0.0) {
            double here = UNBOUNDED;
            int next_row = -1;
            for (int r = 0; r < n_rows; r++) {
              if (column[r] == 0.0) continue;
              double ratio = weight[r] / column[r];
              if ((ratio > passed || (ratio == passed && r > row)) && ratio < here) { here = ratio; next_row = r; }
            }
            if (next_row < 0) break;
            passed = here;
            row = next_row;
            price[row] = along + cap * column[row] < 0.0 ? cap : -along / column[row];
            along += cap * column[row];
          }
          code[c] = fmax(passed, 0.0);
        }
      }
      made = n_survivors - n_kept;
      __syncwarp();
      if (n_kept > 0) {
        // The long-step simplex of simplex.py.
        for (int r = lane; r < n_rows; r += 32) { value[r] = weight[r]; basic[r] = n_kept + r; below[r] = 0; }
        __syncwarp();
        int idle = 0, steps = 0;
        unsigned draw = 12345;
        while (true) {
          double key = idle < IDLE_PIVOTS ? -tolerance : UNBOUNDED;
          int entering = -1;
          draw = draw * 1103515245u + 12345u;
          for (int c = lane; c < n_kept; c += 32) {
            double rise = slope[c], fall = nonbasic[c] >= n_kept ? cap - rise : 0.0, least = fmin(rise, fall);
            if (!(least < -tolerance)) continue;
            // After many pivots without progress any candidate will do: drawn at random, so that none cycles.
            double mine = idle < IDLE_PIVOTS ? least : (double)(((unsigned)c + 1) * 2654435761u ^ draw);
            if (entering < 0 || mine < key) { key = mine; entering = c; }
          }
          smallest_of(key, entering);
          if (entering < 0) break;
          double rise = slope[entering], fall = nonbasic[entering] >= n_kept ? cap - rise : 0.0;
          if (steps >= max_pivots) { wrong = -fmin(rise, fall); break; }
          steps++;
          const double direction = rise <= fall ? 1.0 : -1.0;
          double* column = T + origin[entering] * stride;
          int n_points = 0;
          for (int first = 0; first < n_rows; first += 32) {
            int b = first + lane;
            double a = b < n_rows ? direction * column[b] : 0.0;
            bool breaks = (a > SMALLEST_PIVOT && !below[b]) || (a < -SMALLEST_PIVOT && below[b]);
            int at = packed(breaks, lane, n_points);
            if (breaks) { point[at] = fmax(value[b] / a, 0.0); owner[at] = b; }
          }
          __syncwarp();
          if (n_points == 0) {  // rounding alone can leave a column without break-points: it brings nothing
            if (lane == 0) slope[entering] = direction > 0 ? 0.0 : cap;
            __syncwarp();
            continue;
          }
          // Pass break-points while the cost still falls.
          double along = fmin(rise, fall), length = 0.0;
          int row = -1;
          while (true) {
            double near = UNBOUNDED;
            int q = -1;
            for (int each = lane; each < n_points; each += 32) if (q < 0 || point[each] < near) { near = point[each]; q = each; }
            smallest_of(near, q);
            row = owner[q];
            length = near;
            if (basic[row] < n_kept) break;
            along += cap * fabs(column[row]);
            if (along >= -1e-13 || n_points == 1) break;
            double sign = below[row] ? -cap : cap;
            for (int c = lane; c < n_kept; c += 32) slope[c] += sign * T[origin[c] * stride + row];
            n_points--;
            __syncwarp();
            if (lane == 0) { below[row] = !below[row]; point[q] = point[n_points]; owner[q] = owner[n_points]; }
            __syncwarp();
          }
          // Of break-points that coincide the largest pivot keeps the tableau accurate.
          double size = -fabs(column[row]);
          int chosen = row;
          for (int q = lane; q < n_points; q += 32) {
            if (point[q] <= length + TIE_WIDTH && -fabs(column[owner[q]]) < size) { size = -fabs(column[owner[q]]); chosen = owner[q]; }
          }
          smallest_of(size, chosen);
          row = chosen;
          idle = length <= 1e-14 ? idle + 1 : 0;
          if (below[row]) for (int c = lane; c < n_kept; c += 32) slope[c] -= cap * T[origin[c] * stride + row];
          __syncwarp();
          const double inverse = 1.0 / column[row], move = direction * length;
          const double rate = direction > 0 ? slope[entering] : slope[entering] - cap;
          __syncwarp();
          for (int c = 0; c < n_kept; c++) {
            double* other = T + origin[c] * stride;
            double f = other[row];
            if (c == entering || f == 0.0) continue;
            f *= inverse;
            __syncwarp();
            for (int b = lane; b < n_rows; b += 32) {
              double a = column[b];
              if (b == row) other[b] = f;
              else if (a != 0.0) other[b] -= f * a;
            }
            if (lane == 0) slope[c] -= rate * f;
          }
          __syncwarp();
          for (int b = lane; b < n_rows; b += 32) {
            if (b != row) { value[b] -= column[b] * move; column[b] *= -inverse; }
          }
          if (lane == 0) {
            column[row] = inverse;
            slope[entering] = -rate * inverse;
            value[row] = move;
            below[row] = direction < 0;
            int leaving = basic[row];
            basic[row] = nonbasic[entering];
            nonbasic[entering] = leaving;
          }
          __syncwarp();
        }
        made += steps;
        for (int b = lane; b < n_rows; b += 32) {
          if (basic[b] < n_kept) code[origin[basic[b]]] = fmax(value[b], 0.0);
          else if (below[b]) price[basic[b] - n_kept] = cap;
        }
        for (int c = lane; c < n_kept; c += 32)
          if (nonbasic[c] >= n_kept) price[nonbasic[c] - n_kept] = fmin(fmax(slope[c], 0.0), cap);
        __syncwarp();
      }
      // What codes and prices are worth by the atoms themselves.
      double promised = 0.0;
      for (int r = lane; r < n_rows; r += 32) {
        double fit = 0.0;
        for (int h = term_ptr[term[r]]; h < term_ptr[term[r] + 1]; h++) {
          int c = place[holders[h]];
          if (c < 0) continue;
          fit += code[c] * term_values[h];
          atomicAdd(&share[holders[h]], (Whole)llrint(price[r] * term_values[h] * scale));
        }
        promised -= price[r] * weight[r];
        change += cap * fmax(fit - weight[r], 0.0);
      }
      __syncwarp();
      double infeasible = 0.0;
      for (int first = 0; first < n_survivors; first += 32) {
        int c = first + lane;
        bool used = c < n_survivors && code[c] > 0.0;
        if (c < n_survivors) {
          change -= gain[c] * code[c];
          infeasible = fmax(infeasible, gain[c] - (double)share[atom[c]] / scale);
          share[atom[c]] = 0;
        }
        int at = begin + packed(used, lane, count);
        if (used && at < end) { code_atoms[at] = atom[c]; code_values[at] = code[c]; }
      }
      change = sum_of(change);
      wrong = fmax(wrong, fmax(largest_of(infeasible), (change - sum_of(promised)) / total));
      if (duals) for (int r = lane; r < n_rows; r += 32) duals[source[r]] = price[r];
      if (begin + count > end) { count = end - begin; wrong = UNBOUNDED; }
    }
    __syncwarp();
    for (int c = lane; c < n_survivors; c += 32) place[atom[c]] = -1;
    if (lane == 0) {
      objective[i] = fmax(total + change, 0.0);
      nearest[i] = best;
      pivots[i] = made;
      survivors[i] = n_survivors;
      violation[i] = wrong;
      n_codes[i] = count;
    }
    __syncwarp();
  }
}
