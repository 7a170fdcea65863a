package io.kamille.core.origin;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A group of origin servers under one name, and how it treats them.
 *
 * @param originsFile names further ones; null if there is none
 * @param originsSrv is the name of a service in the DNS, whose records name further ones; null if
 *     there is none. Without it and the file there is an origin
 */
public record UpstreamGroup(
    List<OriginSettings> origins,
    @Nullable Path originsFile,
    @Nullable String originsSrv,
    UpstreamSettings settings) {

  public static final Subsection<OriginSettings> ORIGINS =
      OriginSettings.SECTION
          .list("origins", "The origin servers. A bare URL stands for an origin of weight 1.")
          .withShorthand(OriginSettings.URL)
          .atLeastOne("at least one origin")
          .orElse("origins-file", "origins-srv");

  public static final Setting<Path> ORIGINS_FILE =
      Setting.of(
              "origins-file",
              ValueTypes.file(),
              "A YAML file with `origins:` as here. Kamille reads it again within a second of each"
                  + " change; see [origins](../operations/origins.md#origins-that-come-and-go).")
          .orElse("`origins` are all");

  private static final Pattern SERVICE =
      Pattern.compile("(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\\.[A-Za-z0-9_-]{1,63})*\\.?");

  public static final Setting<String> ORIGINS_SRV =
      Setting.of(
              "origins-srv",
              ValueTypes.text(
                  "name",
                  "a name in the DNS such as _http._tcp.app.internal",
                  text -> SERVICE.matcher(text).matches()),
              "The name of SRV records (RFC 2782), such as `_http._tcp.app.internal`. Each names an"
                  + " origin, by `https://` if the name begins with `_https.` or `protocol` is"
                  + " `h2`; see [origins](../operations/origins.md#origins-that-come-and-go).")
          .orElse("`origins` are all");

  public static final Section<UpstreamGroup> SECTION =
      Section.of(
          UpstreamGroup.class,
          ORIGINS,
          ORIGINS_FILE,
          ORIGINS_SRV,
          UpstreamSettings.SECTION.inlined());
}
