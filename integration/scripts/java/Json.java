import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses JSON into maps, lists, texts, Double, Boolean and null. */
final class Json {
    private final String text;
    private int at;

    Json(String text) { this.text = text; }

    static Object parse(String text) {
        Json j = new Json(text);
        Object value = j.value();
        Reader.check(j.next() == 0, "text after JSON");
        return value;
    }

    private char next() {
        while (at < text.length() && " \n\r\t".indexOf(text.charAt(at)) >= 0) at++;
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void expect(char c) {
        Reader.check(next() == c, "JSON without " + c);
        at++;
    }

    private Object value() {
        switch (next()) {
            case '{': {
                Map<String, Object> map = new LinkedHashMap<>();
                for (char c = '{'; c != '}'; Reader.check(c == ',' || c == '}', "an object without end")) {
                    at++;
                    if (c == '{' && next() == '}') { c = '}'; at++; continue; }
                    Reader.check(next() == '"', "a field without name");
                    String name = string();
                    expect(':');
                    Reader.check(map.put(name, value()) == null, "a field twice");
                    c = next();
                    if (c == '}') at++;
                }
                return map;
            }
            case '[': {
                List<Object> list = new ArrayList<>();
                for (char c = '['; c != ']'; Reader.check(c == ',' || c == ']', "a list without end")) {
                    at++;
                    if (c == '[' && next() == ']') { c = ']'; at++; continue; }
                    list.add(value());
                    c = next();
                    if (c == ']') at++;
                }
                return list;
            }
            case '"': return string();
            case 't': at += 4; return true;
            case 'f': at += 5; return false;
            case 'n': at += 4; return null;
            default: {
                int first = at;
                while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
                return Double.valueOf(text.substring(first, at));
            }
        }
    }

    private String string() {
        StringBuilder b = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            if (c == '\\') {
                c = text.charAt(++at);
                int known = "bfnrt".indexOf(c);
                if (known >= 0) c = "\b\f\n\r\t".charAt(known);
                else if (c == 'u') { c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16); at += 4; }
            }
            b.append(c);
        }
        at++;
        return b.toString();
    }
}
