package io.kamille.core.upstream;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group of origin servers under one name, and how it treats them.
 *
 * @param originsFile names further ones; null if there is none. Without it there is an origin
 */
public record UpstreamGroup(
    List<OriginSettings> origins, @Nullable Path originsFile, UpstreamSettings settings) {

  public static final Subsection<OriginSettings> ORIGINS =
      OriginSettings.SECTION
          .list("origins", "The origin servers. A bare URL stands for an origin of weight 1.")
          .withShorthand(OriginSettings.URL)
          .atLeastOne("at least one origin")
          .orElse("origins-file");

  public static final Setting<Path> ORIGINS_FILE =
      Setting.of(
              "origins-file",
              ValueTypes.file(),
              "A YAML file with `origins:` as here. Kamille reads it again within a second of each"
                  + " change; see [origins](../operations/origins.md#origins-that-come-and-go).")
          .orElse("`origins` are all");

  public static final Section<UpstreamGroup> SECTION =
      Section.of(UpstreamGroup.class, ORIGINS, ORIGINS_FILE, UpstreamSettings.SECTION.inlined());
}
