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
