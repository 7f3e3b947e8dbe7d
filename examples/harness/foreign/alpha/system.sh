#!/bin/sh
# A whole system in POSIX shell and awk: preprocessor, learner and linear classifier. Called as
#   system.sh ROLE COMMAND [LAYER]     with inputs in in/, outputs in out/, and what was learned in state/
set -eu
role=$1 command=$2 layer=${3:-0}

value() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' in/call.tsv; }

describe() {
  common='"format": "basanite-foreign/1", "version": "1", "formats": ["tsv"], "random": false'
  none='"schema": {"type": "object", "additionalProperties": false}'
  case $role in
    preprocessor) echo "{$common, $none, \"name\": \"awk-scaled\", \"role\": \"preprocessor\", \"gives\": \"nonneg\", \"summary\": \"Columns brought to 0..1\"}" ;;
    learner) echo "{$common, \"name\": \"awk-layers\", \"role\": \"learner\", \"summary\": \"Three layers of standardised sums and differences\", \"declares\": {\"sampling\": \"none\"}, \"schema\": {\"type\": \"object\", \"properties\": {\"gain\": {\"type\": \"number\", \"minimum\": 0.1, \"maximum\": 10}}, \"additionalProperties\": false}}" ;;
    linear) echo "{$common, $none, \"name\": \"awk-means\", \"role\": \"linear\", \"summary\": \"Difference of class means over variance\"}" ;;
  esac
}

moments() { # the mean and deviation of every column of a table
  awk -F '\t' '{ for (i = 1; i <= NF; i++) { s[i] += $i; q[i] += $i * $i } }
    END { for (i = 1; i <= NF; i++) { m = s[i] / NR; d = q[i] / NR - m * m; printf "%.12g\t%.12g\n", m, (d > 1e-12 ? sqrt(d) : 1) } }' "$1"
}

code() { # one layer: standardise by its weights, then tanh of the sum or difference of neighbours
  awk -F '\t' -v OFS='\t' -v gain="$(cat state/gain)" '
    function tanh(x) { if (x > 15) return 1; if (x < -15) return -1; return (exp(2 * x) - 1) / (exp(2 * x) + 1) }
    NR == FNR { mean[FNR] = $1; deviation[FNR] = $2; next }
    { for (i = 1; i <= NF; i++) z[i] = ($i - mean[i]) / deviation[i]
      for (i = 1; i <= NF; i++) { j = i % NF + 1; $i = sprintf("%.12g", tanh(gain * (i % 2 ? z[i] + z[j] : z[i] - z[j]) / 2)) }
      print }' "state/layer_$1/moments" "$2"
}

learn() { # LAYERS: the same algorithm in every layer, each on the codes of the one below
  gain=$(value parameters.gain); echo "${gain:-1}" > state/gain
  cp in/features.tsv /tmp/codes
  for k in $(seq "$1"); do
    mkdir "state/layer_$k"
    moments /tmp/codes > "state/layer_$k/moments"
    code "$k" /tmp/codes > /tmp/next && mv /tmp/next /tmp/codes
  done
  echo "$1" > state/layers
}

case $role-$command in
  *-describe) describe ;;
  preprocessor-fit)
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) low[i] = high[i] = $i }
      { for (i = 1; i <= NF; i++) { if ($i < low[i]) low[i] = $i; if ($i > high[i]) high[i] = $i } }
      END { for (i = 1; i <= NF; i++) printf "%.17g\t%.17g\n", low[i], high[i] }' in/items.tsv > state/range ;;
  preprocessor-transform)
    awk -F '\t' -v OFS='\t' 'NR == FNR { low[FNR] = $1; width[FNR] = $2 - $1; next }
      { for (i = 1; i <= NF; i++) { v = width[i] > 0 ? ($i - low[i]) / width[i] : 0; $i = sprintf("%.12g", v < 0 ? 0 : v > 1 ? 1 : v) }
        print }' state/range in/items.tsv > out/features.tsv ;;
  learner-fit) learn 3 ;;
  learner-shallow) learn 1 ;;
  learner-layers) cat state/layers ;;
  learner-transform)
    [ "$layer" -gt 0 ] || layer=$(cat state/layers)
    cp in/features.tsv /tmp/codes
    for k in $(seq "$layer"); do code "$k" /tmp/codes > /tmp/next && mv /tmp/next /tmp/codes; done
    cp /tmp/codes out/features.tsv ;;
  linear-grid) printf '{"shrink": 0.01}\n{"shrink": 1}\n' ;;
  linear-fit)
    paste in/target.txt in/features.tsv | awk -F '\t' -v shrink="$(value point.shrink)" '
      { c = $1 > 0; n[c]++; for (i = 2; i <= NF; i++) { s[c, i] += $i; t[i] += $i; q[i] += $i * $i } }
      END { for (i = 2; i <= NF; i++) { m = t[i] / NR
        printf "%.17g\n", (s[1, i] / n[1] - s[0, i] / n[0]) / (q[i] / NR - m * m + shrink) } }' > state/weights ;;
  linear-predict)
    awk -F '\t' 'NR == FNR { w[FNR] = $1; next } { y = 0; for (i = 1; i <= NF; i++) y += w[i] * $i; printf "%.17g\n", y }' \
      state/weights in/features.tsv > out/scores.txt ;;
  *) echo "there is no command $command for a $role" >&2; exit 2 ;;
esac
