package io.kamille.core.upstream;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Subsection;
import java.util.List;

/**
 * A group of origin servers under one name, and how it treats them.
 *
 * @param origins at least one
 */
public record UpstreamGroup(List<OriginSettings> origins, UpstreamSettings settings) {

  public static final Subsection<OriginSettings> ORIGINS =
      OriginSettings.SECTION
          .list("origins", "The origin servers. A bare URL stands for an origin of weight 1.")
          .withShorthand(OriginSettings.URL)
          .atLeastOne("at least one origin");

  public static final Section<UpstreamGroup> SECTION =
      Section.of(UpstreamGroup.class, ORIGINS, UpstreamSettings.SECTION.inlined());
}
