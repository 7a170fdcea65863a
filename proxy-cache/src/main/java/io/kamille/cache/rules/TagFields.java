package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;

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

  /** Those of varnish-modules, FOSHttpCache and Magento. */
  public static final TagFields USUAL =
      new TagFields(List.of(BLANKS_SEPARATE, "X-Cache-Tags", "X-Magento-Tags"));

  public TagFields {
    names = List.copyOf(names);
  }

  /** Whether that can be the name of a field with tags and nothing else. */
  public static boolean isPossible(String name) {
    FieldName known = FieldName.of(name);
    return Octets.isToken(name)
        && (known == null || known == FieldName.CACHE_TAG || known == FieldName.SURROGATE_KEY);
  }

  /** Whether blanks separate the tags of that field, as commas do. */
  static boolean isBlankSeparated(String name) {
    return name.equalsIgnoreCase(BLANKS_SEPARATE);
  }

  /** Moves the tags of these fields into {@code Cache-Tag}. */
  public void gather(Fields response) {
    for (String name : names) {
      if (response.indexOf(name, 0) >= 0 && FieldName.of(name) == null) {
        String tags = String.join(",", response.all(name));
        response.remove(name);
        response.add(
            FieldName.CACHE_TAG,
            isBlankSeparated(name) ? tags.replace(' ', ',').replace('\t', ',') : tags);
      }
    }
  }
}
