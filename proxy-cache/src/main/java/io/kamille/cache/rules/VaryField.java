package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/** The names in {@code Vary} (RFC 9110 §12.5.5). Stateless; any thread. */
final class VaryField {

  /*
   * A member of Vary that is no field name is read as "*": we cannot know what it stands for. So
   * are the fields that tell the client's address, because the gateway writes them after the cache
   * has looked at the request.
   */
  private static final Set<String> NEVER_MATCHING = Set.of("*", "x-forwarded-for", "forwarded");

  private VaryField() {}

  /** Whether a field of that name, in lower case, can be the same in two requests. */
  static boolean canMatch(String name) {
    return !NEVER_MATCHING.contains(name) && Octets.isToken(name);
  }

  /** The members of {@code Vary}, in lower case. */
  static Set<String> names(Fields response) {
    Set<String> names = new LinkedHashSet<>();
    for (String value : response.all(FieldName.VARY)) {
      for (String member : value.split(",", -1)) {
        String name = member.strip();
        if (!name.isEmpty()) {
          names.add(name.toLowerCase(Locale.ROOT));
        }
      }
    }
    return names;
  }
}
