package io.kamille.launcher.configuration;

import static io.kamille.admin.api.Json.ordered;

import io.kamille.core.setting.Member;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings as a JSON schema (2020-12), from their declarations. Stateless; any thread. */
public final class ConfigurationSchema {

  private ConfigurationSchema() {}

  /** The schema of the whole file. */
  public static Map<String, Object> document() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    document.put("title", "The configuration of Kamille");
    document.putAll(section(Configuration.file()));
    return document;
  }

  private static Map<String, Object> section(Section<?> section) {
    Map<String, Object> properties = new LinkedHashMap<>();
    List<String> required = new ArrayList<>();
    for (Member member : section.members()) {
      switch (member) {
        case Setting<?> setting -> {
          properties.put(setting.key(), setting(setting));
          if (setting.isRequired()) {
            required.add(setting.key());
          }
        }
        case Subsection<?> inside -> {
          properties.put(inside.key(), subsection(inside));
          if (inside.required() != null && inside.alternatives().isEmpty()) {
            required.add(inside.key());
          }
        }
      }
    }
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("properties", properties);
    schema.put("required", required);
    schema.put("additionalProperties", false);
    return schema;
  }

  private static Map<String, Object> subsection(Subsection<?> inside) {
    Map<String, Object> element = section(inside.section());
    if (inside.shorthand() != null) {
      element = ordered("anyOf", List.of(setting(inside.shorthand()), element));
    }
    Map<String, Object> schema =
        switch (inside.shape()) {
          case ONE -> element;
          case LIST -> ordered("type", "array", "items", element);
          case SOME ->
              ordered("anyOf", List.of(element, ordered("type", "array", "items", element)));
          case NAMED -> ordered("type", "object", "additionalProperties", element);
        };
    schema.put("description", inside.description());
    return schema;
  }

  private static Map<String, Object> setting(Setting<?> setting) {
    Map<String, Object> schema = new LinkedHashMap<>();
    List<String> scalar = List.of("string", "number", "boolean");
    if (setting.type().isList()) {
      schema.put("type", "array");
      schema.put("items", ordered("type", scalar));
    } else {
      schema.put("type", scalar);
    }
    schema.put("description", setting.description());
    schema.put("x-type", setting.type().name());
    if (!setting.type().bounds().isEmpty()) {
      schema.put("x-bounds", setting.type().bounds());
    }
    if (setting.ifAbsent() != null) {
      schema.put("x-default", setting.ifAbsent());
    }
    schema.put("x-applies", setting.needsRestart() ? "restart" : "reload");
    return schema;
  }
}
