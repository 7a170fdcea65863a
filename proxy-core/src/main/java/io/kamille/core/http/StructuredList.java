package io.kamille.core.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** List Structured Fields (RFC 9651 §3.1). Stateless; any thread. */
public final class StructuredList {

  private StructuredList() {}

  /**
   * The members of the list that the lines of one field make up, or null if they are none: then the
   * whole field is to be ignored (§4.2). Parameters are checked and forgotten.
   */
  public static @Nullable List<StructuredValue> parse(List<String> lines) {
    return new StructuredFieldParser(String.join(", ", lines)).list();
  }

  /**
   * The texts of a list that has strings and nothing else, as fields are defined whose members are
   * names; null if it is another.
   */
  public static @Nullable List<String> strings(List<String> lines) {
    List<StructuredValue> members = parse(lines);
    if (members == null
        || members.stream().anyMatch(member -> member.kind() != StructuredValue.Kind.STRING)) {
      return null;
    }
    return members.stream().map(StructuredValue::text).toList();
  }
}
