package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;
import java.util.stream.Stream;

/**
 * The response fields in which content systems write tags, besides those that all of Kamille knows
 * ({@link Tags}). Immutable; any thread.
 *
 * @param names case does not matter
 */
public record TagFields(List<String> names) {

  /*
   * As a response comes, its tags are moved into Cache-Tag: nothing behind needs to know the names,
   * another node of ours among it. A response without the fields costs comparisons of lengths.
   */
  private static final String BLANKS_SEPARATE = "xkey";
  private static final List<String> COMMAS_SEPARATE = List.of("X-Cache-Tags", "X-Magento-Tags");

  /** Those of varnish-modules, FOSHttpCache and Magento. */
  public static final TagFields USUAL =
      new TagFields(Stream.concat(Stream.of(BLANKS_SEPARATE), COMMAS_SEPARATE.stream()).toList());

  public TagFields {
    names = List.copyOf(names);
  }

  /** Whether that can be the name of a field with tags and nothing else. */
  public static boolean isPossible(String name) {
    FieldName known = FieldName.of(name);
    return Octets.isToken(name)
        && (known == null || known == FieldName.CACHE_TAG || known == FieldName.SURROGATE_KEY);
  }

  /**
   * Whether blanks separate the tags in that line of that field, as commas do: always in {@code
   * xkey}, and where there is no comma in a field that an operator has named.
   */
  public static boolean areBlankSeparated(String name, String line) {
    return name.equalsIgnoreCase(BLANKS_SEPARATE)
        || (line.indexOf(',') < 0
            && FieldName.of(name) == null
            && COMMAS_SEPARATE.stream().noneMatch(name::equalsIgnoreCase));
  }

  /** Moves the tags of these fields into {@code Cache-Tag}. */
  public void gather(Fields response) {
    for (String name : names) {
      if (response.indexOf(name, 0) >= 0 && FieldName.of(name) == null) {
        List<String> lines = response.all(name).stream().map(line -> commas(name, line)).toList();
        response.remove(name);
        response.add(FieldName.CACHE_TAG, String.join(",", lines));
      }
    }
  }

  private static String commas(String name, String line) {
    return areBlankSeparated(name, line) ? line.replace(' ', ',').replace('\t', ',') : line;
  }
}
