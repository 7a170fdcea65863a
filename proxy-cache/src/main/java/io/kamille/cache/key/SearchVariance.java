package io.kamille.cache.key;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StructuredDictionary;
import io.kamille.core.http.StructuredValue;
import io.kamille.core.http.StructuredValue.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which differences of queries mean nothing, as an origin says by {@code No-Vary-Search}
 * (draft-ietf-httpbis-no-vary-search). Immutable; any thread.
 *
 * @param names parameters, decoded to octets, of which each is a character here
 * @param countsNamed whether those alone count; otherwise all but those
 * @param countsOrder whether the order of parameters with different names counts
 */
public record SearchVariance(Set<String> names, boolean countsNamed, boolean countsOrder) {

  /*
   * The draft's model has two lists of which one is always a wildcard: "no-vary params" are our
   * names if all others count, "vary params" if they alone do.
   *
   * Queries are read as forms are (WHATWG URL, application/x-www-form-urlencoded parser), and two are
   * equivalent if they have the same simplified form. It is the form written anew, so that no octet
   * of a name or a value can be taken for a separator. Unlike a form's reader, ours compares octets:
   * what is not UTF-8 is not replaced, or origins that use another encoding would have different
   * words taken for the same.
   */

  /** Every difference counts, as without the field. */
  public static final SearchVariance DEFAULT = new SearchVariance(Set.of(), false, true);

  /** A field that names more parameters is ignored. */
  static final int NAMES_LIMIT = 64;

  /** A field whose names have more octets in all is ignored. */
  static final int OCTETS_LIMIT = 1024;

  private static final String FIELD = "No-Vary-Search";
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  public SearchVariance {
    names = Set.copyOf(names);
  }

  private record Parameter(String name, String value) {}

  /** Whether a response says anything about it, valid or not. */
  public static boolean isIn(Fields response) {
    return !response.all(FIELD).isEmpty();
  }

  /** What a response says; {@link #DEFAULT} if it says nothing, or nothing valid. */
  public static SearchVariance of(Fields response) {
    List<String> lines = response.all(FIELD);
    StructuredDictionary members = lines.isEmpty() ? null : StructuredDictionary.parse(lines);
    SearchVariance found = members == null ? null : of(members);
    return found == null || found.weightOctets() > OCTETS_LIMIT ? DEFAULT : found;
  }

  /** Null if a member has a value that it must not have. */
  private static @Nullable SearchVariance of(StructuredDictionary members) {
    StructuredValue order = members.value("key-order");
    StructuredValue params = members.value("params");
    StructuredValue except = members.value("except");
    boolean isOrderValid = order == null || order.kind() == Kind.BOOLEAN;
    boolean isAll = params != null && params.isTrue();
    boolean isNone = params == null || params.isFalse();
    Set<String> names = names(isAll ? except : isNone ? null : params);
    if (!isOrderValid || names == null || (except != null && !isAll)) {
      return null;
    }
    return new SearchVariance(names, isAll, order == null || order.isFalse());
  }

  /** The names of a list; null if it is none, has other things than strings, or too many. */
  private static @Nullable Set<String> names(@Nullable StructuredValue list) {
    if (list == null) {
      return Set.of();
    }
    if (list.kind() != Kind.INNER_LIST || list.members().size() > NAMES_LIMIT) {
      return null;
    }
    Set<String> names = new HashSet<>();
    for (StructuredValue member : list.members()) {
      if (member.kind() != Kind.STRING) {
        return null;
      }
      byte[] octets = member.text().getBytes(StandardCharsets.ISO_8859_1);
      names.add(decoded(octets, 0, octets.length));
    }
    return names;
  }

  /** Percent-decoded, a plus for a space; a character stands for an octet. */
  private static String decoded(byte[] octets, int start, int end) {
    byte[] decoded = new byte[end - start];
    int length = 0;
    for (int at = start; at < end; at += QueryFilter.width(octets, at, end)) {
      decoded[length++] = QueryFilter.decoded(octets, at, end);
    }
    return new String(decoded, 0, length, StandardCharsets.ISO_8859_1);
  }

  public boolean isDefault() {
    return equals(DEFAULT);
  }

  /** What the names take, in octets of memory, roughly. */
  public int weightOctets() {
    return names.stream().mapToInt(String::length).sum();
  }

  /** What all queries that are equivalent to this request's have in common, and no others. */
  public String simplified(RequestHead request) {
    List<Parameter> parameters = parameters(request);
    if (!countsOrder) {
      parameters.sort(Comparator.comparing(Parameter::name));
    }
    StringBuilder simplified = new StringBuilder();
    for (Parameter parameter : parameters) {
      simplified.append(simplified.isEmpty() ? "" : "&");
      encode(parameter.name, simplified);
      encode(parameter.value, simplified.append('='));
    }
    return simplified.toString();
  }

  /** With everything percent-encoded but letters, digits, periods, dashes and underscores. */
  private static void encode(String text, StringBuilder to) {
    for (byte octet : text.getBytes(StandardCharsets.ISO_8859_1)) {
      boolean isPlain = Octets.isDigit(octet) || isLetter(octet) || ".-_".indexOf(octet) >= 0;
      if (isPlain) {
        to.append((char) octet);
      } else {
        HEX.toHexDigits(to.append('%'), octet);
      }
    }
  }

  private static boolean isLetter(byte octet) {
    int lower = octet | 0x20;
    return lower >= 'a' && lower <= 'z';
  }

  /** Those that count, in their order. */
  private List<Parameter> parameters(RequestHead request) {
    List<Parameter> parameters = new ArrayList<>();
    byte[] octets = request.octets();
    int end = request.queryEnd();
    for (int start = request.pathEnd() + 1; start < end; ) {
      int stop = indexOf('&', octets, start, end);
      if (stop > start) {
        int equals = indexOf('=', octets, start, stop);
        String name = decoded(octets, start, equals);
        if (names.contains(name) == countsNamed) {
          parameters.add(new Parameter(name, decoded(octets, Math.min(equals + 1, stop), stop)));
        }
      }
      start = stop + 1;
    }
    return parameters;
  }

  private static int indexOf(char mark, byte[] octets, int start, int end) {
    int at = start;
    while (at < end && octets[at] != mark) {
      at++;
    }
    return at;
  }

  /** As a field would say it, with the names in order, for people. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(countsOrder ? "" : "key-order");
    if (countsNamed || !names.isEmpty()) {
      text.append(text.isEmpty() ? "params" : ", params");
      if (!names.isEmpty()) {
        text.append(countsNamed ? ", except=(" : "=(");
        text.append(String.join(" ", quoted())).append(')');
      }
    }
    return text.toString();
  }

  private List<String> quoted() {
    return new TreeSet<>(names).stream().map(SearchVariance::quoted).toList();
  }

  private static String quoted(String name) {
    StringBuilder quoted = new StringBuilder().append('"');
    encode(name, quoted);
    return quoted.append('"').toString();
  }
}
