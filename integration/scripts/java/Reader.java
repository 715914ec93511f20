import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A reader of model files, written from docs/reference/model.md alone: java Reader VECTORS prints, for each model of a file like
 * internal/models/program/testdata/vectors.json, a line with the bits of its scores, "-" for a row without a score, or with the reason why it is refused.
 */
public final class Reader {
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String reason) { super(reason); }
    }

    static void check(boolean holds, String reason) {
        if (!holds) throw new Refused(reason);
    }

    @SuppressWarnings("unchecked") static Map<String, Object> map(Object x) { return (Map<String, Object>) x; }
    @SuppressWarnings("unchecked") static List<Object> list(Object x) { return x == null ? List.of() : (List<Object>) x; }
    static List<String> texts(Object x) { return list(x).stream().map(t -> (String) t).toList(); }
    static int whole(Object x) { return ((Double) x).intValue(); }
    static boolean flag(Object x) { return x != null && (Boolean) x; }
    static int[] places(Object x) { return list(x).stream().mapToInt(Reader::whole).toArray(); }
    static double[] numbers(Object x) { return list(x).stream().mapToDouble(v -> (Double) v).toArray(); }
    static double[] numbers(Object x, int n, double absent) {
        double[] list = numbers(x);
        if (x == null) Arrays.fill(list = new double[n], absent);
        check(list.length == n, "a list of another length");
        return list;
    }

    // ---- The model ----

    static final int MISSING = -1, OTHER = -2; // instead of the place of a category
    static final Pattern NUMBER = Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");

    final boolean sparse;
    final List<Object> schema;
    final List<String> spellings;
    final String policy;
    final long[] columns;
    final double[] fill;
    final Map<Integer, Map<String, Object>> categories = new LinkedHashMap<>(); // by input
    final List<Object> derived, terms;
    final double offset;

    Reader(String file) throws Exception {
        check(file.startsWith("{\n\"toptau_model\": "), "not a toptau model");
        check(file.startsWith("{\n\"toptau_model\": 1,\n"), "another format");
        int end = file.lastIndexOf("\"checksum\": "), last = file.indexOf("\n\"digest\": ") + 1;
        check(end > last && last > 0, "edited or damaged: parts are missing");
        Map<String, Object> f = map(Json.parse(file));
        check(f.get("checksum").equals(sum(file.substring(0, end))), "edited or damaged: the checksum");
        check(f.get("digest").equals(sum(file.substring(0, last))), "edited or damaged: the digest");
        sparse = map(f.get("schema")).get("format").equals("libsvm");
        schema = list(map(f.get("schema")).get("columns"));
        spellings = texts(map(f.get("schema")).get("missing")).stream().map(Reader::trim).toList();
        Map<String, Object> p = map(f.get("program"));
        policy = (String) p.get("missing");
        columns = list(p.get("columns")).stream().mapToLong(v -> ((Double) v).longValue()).toArray();
        fill = numbers(p.get("fill"), columns.length, 0);
        for (Object t : list(p.get("texts"))) categories.put(whole(map(t).get("input")), map(t));
        derived = list(p.get("derived"));
        terms = list(p.get("terms"));
        offset = (Double) p.get("offset");
        for (Object probe : list(f.get("probes"))) {
            check(score(texts(map(probe).get("fields"))) == (Double) map(probe).get("score"), "edited or damaged: a probe row");
        }
    }

    static byte[] hash(String text) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    }

    static String sum(String text) throws Exception { return "sha256:" + HexFormat.of().formatHex(hash(text)); }

    static String trim(String text) { return text.replaceAll("^[ \t]+|[ \t]+$", ""); }

    static double number(String text) {
        if (text.matches("(?i)true|t")) return 1;
        if (text.matches("(?i)false|f")) return 0;
        check(NUMBER.matcher(text).matches() && text.length() <= 4096, "not a number");
        double x = Double.parseDouble(text);
        check(!Double.isInfinite(x), "a number beyond float64");
        return x;
    }

    double score(List<String> fields) throws Exception {
        double[] x = new double[columns.length + derived.size()]; // numbers, NaN if they are missing, and places of categories
        if (sparse) {
            for (String field : fields) {
                int colon = field.indexOf(':'), k = Arrays.binarySearch(columns, Long.parseLong(field.substring(0, colon)) - 1);
                double value = number(field.substring(colon + 1));
                if (k >= 0) x[k] = value;
            }
        }
        for (int k = 0; !sparse && k < columns.length; k++) x[k] = value(k, trim(fields.get((int) columns[k])));
        for (int i = 0; i < derived.size(); i++) {
            Map<String, Object> d = map(derived.get(i));
            double a = x[whole(d.get("a"))], b = x[whole(d.get("b"))];
            String op = (String) d.get("op");
            boolean has = part(a) && part(b) && !(op.equals("/") && b == 0);
            x[columns.length + i] = !has ? Double.NaN : op.equals("-") ? a - b : op.equals("*") ? a * b : a / b;
        }
        double z = 0;
        for (Object term : terms) {
            Map.Entry<String, Object> t = map(term).entrySet().iterator().next();
            switch (t.getKey()) {
                case "numbers" -> z = addNumbers(z, map(t.getValue()), x);
                case "levels" -> { for (Object l : list(t.getValue())) z += level(map(l), x); }
                case "cards" -> { for (Object c : list(t.getValue())) z = addCard(z, map(c), x); }
                case "trees" -> z = addTrees(z, map(t.getValue()), x);
                default -> throw new Refused("a term of kind " + t.getKey());
            }
        }
        z += offset;
        check(!Double.isInfinite(z) && !Double.isNaN(z), "a score that is not finite");
        return z;
    }

    /** Returns the value of an input after the policy for missing values. */
    double value(int k, String text) throws Exception {
        Map<String, Object> own = categories.get(k);
        boolean missing = text.isEmpty() || spellings.contains(text) || own == null && text.matches("(?i)[+-]?nan");
        check(!missing || !policy.equals("error"), "a missing value");
        if (own == null) {
            return !missing ? number(text) : policy.equals("median") ? fill[k] : policy.equals("zero") ? 0 : Double.NaN;
        }
        if (missing) return policy.equals("median") ? 0 : MISSING;
        int place = list(own.get("categories")).indexOf(text);
        Object salt = map(schema.get((int) columns[k])).get("salt");
        if (place < 0 && salt != null) {
            place = list(own.get("categories")).indexOf(HexFormat.of().formatHex(hash(salt + "\0" + text)).substring(0, 24));
        }
        return place < 0 ? OTHER : place;
    }

    static boolean part(double x) { return x == 0 || Math.abs(x) >= 0x1p-500 && Math.abs(x) <= 0x1p500; }

    double addNumbers(double z, Map<String, Object> t, double[] x) {
        double[] weights = numbers(t.get("weights")), shift = numbers(t.get("shift"), weights.length, 0), scale = numbers(t.get("scale"), weights.length, 1);
        int[] inputs = places(t.get("inputs"));
        for (int i = 0; i < weights.length; i++) {
            double v = x[t.containsKey("inputs") ? inputs[i] : i];
            if (Double.isNaN(v) || sparse && v == 0) continue;
            float rounded = (float) ((v - shift[i]) / scale[i]);
            check(!Float.isInfinite(rounded), "a value that is too large");
            z += rounded * weights[i];
        }
        return z;
    }

    double level(Map<String, Object> t, double[] x) {
        int k = whole(t.get("input"));
        Map<String, Object> own = categories.get(k);
        double[] weights = numbers(t.get("weights")), scale = numbers(t.get("scale"), weights.length, 1);
        int place = own != null ? (int) x[k] : Double.isNaN(x[k]) ? MISSING : OTHER;
        if (place == MISSING && flag(t.get("missing"))) place = own == null ? 0 : list(own.get("categories")).size();
        if (place == OTHER && own != null && flag(own.get("rare"))) place = weights.length - 1;
        return place < 0 ? 0 : (float) (1 / scale[place]) * weights[place];
    }

    double addCard(double z, Map<String, Object> t, double[] x) {
        double[] knots = numbers(t.get("knots")), atoms = numbers(t.get("atoms")), w = numbers(t.get("weights"));
        double v = x[whole(t.get("input"))];
        int n = knots.length;
        if (Double.isNaN(v)) return flag(t.get("missing")) ? z + w[w.length - 1] : z;
        double low = Double.POSITIVE_INFINITY, high = -low;
        for (double[] list : new double[][] {knots, atoms}) for (double end : list) { low = Math.min(low, end); high = Math.max(high, end); }
        v = Math.min(Math.max(v, low), high) + 0.0; // 0 has no sign
        for (int j = 0; j < atoms.length; j++) if (atoms[j] == v) return z + w[n + j];
        if (n == 0) {
            int j = 1;
            while (atoms[j] < v) j++;
            return z + w[atoms[j] / 2 - v / 2 < v / 2 - atoms[j - 1] / 2 ? j : j - 1];
        }
        v = Math.min(Math.max(v, knots[0]), knots[n - 1]);
        if (v == knots[n - 1]) return z + w[n - 1];
        int i = 0;
        while (knots[i + 1] <= v) i++;
        double half = Double.isInfinite(knots[i + 1] - knots[i]) ? 0.5 : 1, a = knots[i] * half;
        double f = Math.rint((v * half - a) / (knots[i + 1] * half - a) * 0x1p24) * 0x1p-24;
        z += (1 - f) * w[i];
        return z + f * w[i + 1];
    }

    double addTrees(double z, Map<String, Object> t, double[] x) {
        x = x.clone();
        for (Object code : list(t.get("codes"))) {
            int k = whole(map(code).get("input"));
            x[k] = x[k] == MISSING ? Double.NaN : x[k] == OTHER ? (Double) map(code).get("unknown") : numbers(map(code).get("values"))[(int) x[k]];
        }
        int[] inputs = places(t.get("inputs"));
        for (Object tree : list(t.get("trees"))) {
            int[] ask = places(map(tree).get("ask")), left = places(map(tree).get("missing_left"));
            double[] at = numbers(map(tree).get("at"));
            int inner = 0, leaf = 0, skip = 0; // skip: subtrees to pass over
            for (int node = 0; ; node++) {
                if (ask[node] < 0 && skip == 0) break;
                if (ask[node] < 0) { leaf++; skip--; continue; }
                if (skip > 0) { inner++; skip++; continue; }
                double v = x[inputs[ask[node]]];
                if (!(v <= at[inner] || Double.isNaN(v) && Arrays.binarySearch(left, inner) >= 0)) skip = 1;
                inner++;
            }
            z += (Double) list(map(tree).get("weights")).get(leaf);
        }
        return z;
    }

    public static void main(String[] args) throws Exception {
        for (Object vector : list(Json.parse(Files.readString(Path.of(args[0]))))) {
            StringBuilder line = new StringBuilder();
            try {
                Reader model = new Reader((String) map(vector).get("model"));
                for (Object row : list(map(vector).get("rows"))) {
                    try {
                        line.append(String.format("%016x ", Double.doubleToRawLongBits(model.score(texts(row)))));
                    } catch (Refused e) {
                        line.append("- ");
                    }
                }
            } catch (RuntimeException e) { // also what JSON of another shape leads to
                line.append("refused: " + e.getMessage());
            }
            System.out.println(line.toString().strip());
        }
    }
}
