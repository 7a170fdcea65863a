package io.kamille.launcher.patch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** JSON merge patches (RFC 7396) of YAML texts. Stateless; any thread. */
public final class MergePatch {

  private MergePatch() {}

  /**
   * The text with the values that the patch asks for. All lines stay that have no part in the
   * change, comments too.
   *
   * @param text a valid configuration
   */
  public static String apply(String text, JsonNode patch) {
    MarkedNode root = MarkedText.parse(text);
    Object wanted = merged(root == null ? null : root.value(), patch);
    return wanted instanceof Map ? YamlEdit.toward(text, wanted) : YamlWriter.flow(wanted) + "\n";
  }

  /** RFC 7396 §2. */
  static @Nullable Object merged(@Nullable Object target, JsonNode patch) {
    if (!patch.isObject()) {
      return value(patch);
    }
    Map<String, @Nullable Object> merged = new LinkedHashMap<>();
    if (target instanceof Map<?, ?> map) {
      map.forEach((name, value) -> merged.put((String) Objects.requireNonNull(name), value));
    }
    patch
        .properties()
        .forEach(
            member -> {
              if (member.getValue().isNull()) {
                merged.remove(member.getKey());
              } else {
                merged.put(member.getKey(), merged(merged.get(member.getKey()), member.getValue()));
              }
            });
    return merged;
  }

  /**
   * What makes one text of another, as far as values go: a patch of nested maps, where null
   * removes.
   */
  public static Map<String, @Nullable Object> between(String from, String to) {
    return between(members(from), members(to));
  }

  /** The values of a text, by name. */
  public static Map<String, @Nullable Object> members(String text) {
    MarkedNode root = MarkedText.parse(text);
    return members(root == null ? null : root.value());
  }

  private static Map<String, @Nullable Object> members(@Nullable Object value) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((name, member) -> members.put(String.valueOf(name), member));
    }
    return members;
  }

  private static Map<String, @Nullable Object> between(
      Map<String, @Nullable Object> from, Map<String, @Nullable Object> to) {
    Map<String, @Nullable Object> patch = new LinkedHashMap<>();
    from.keySet().stream()
        .filter(name -> !to.containsKey(name))
        .forEach(name -> patch.put(name, null));
    to.forEach(
        (name, value) -> {
          Object before = from.get(name);
          if (before instanceof Map && value instanceof Map) {
            Map<String, @Nullable Object> inner = between(members(before), members(value));
            if (!inner.isEmpty()) {
              patch.put(name, inner);
            }
          } else if (!from.containsKey(name) || !Objects.equals(before, value)) {
            patch.put(name, value);
          }
        });
    return patch;
  }

  static @Nullable Object value(JsonNode node) {
    if (node.isArray()) {
      List<@Nullable Object> items = new ArrayList<>();
      // An object in a list is no patch, but a value: its nulls stay.
      node.values().forEach(item -> items.add(value(item)));
      return items;
    }
    if (node.isObject()) {
      Map<String, @Nullable Object> members = new LinkedHashMap<>();
      node.properties().forEach(member -> members.put(member.getKey(), value(member.getValue())));
      return members;
    }
    return node.isNull() ? null : node.asString();
  }
}
