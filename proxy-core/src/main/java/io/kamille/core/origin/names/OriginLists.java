package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.names.OriginList.NamedBy;
import io.kamille.core.setting.OriginUrl;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All that names origins of one upstream. One thread at a time looks; reading: any thread.
 *
 * @param all what comes first has precedence
 * @param registered one of them
 * @param protocol in which the origins are asked
 */
public record OriginLists(
    List<OriginList> all, RegisteredOrigins registered, OriginProtocol protocol) {

  public OriginLists {
    all = List.copyOf(all);
  }

  /**
   * Those of an upstream. What another configuration had before goes on, and is not read again.
   *
   * @param before null if there was no such upstream
   */
  public static OriginLists of(
      String upstream, UpstreamGroup group, NameLookup lookup, @Nullable OriginLists before) {
    RegisteredOrigins registered =
        before == null ? new RegisteredOrigins(upstream) : before.registered;
    OriginProtocol protocol = group.settings().protocol();
    List<OriginList> known = before == null || before.protocol != protocol ? List.of() : before.all;
    List<OriginList> all = new ArrayList<>();
    all.add(new OriginList(NamedBy.CONFIGURATION, "", upstream, group.origins()));
    if (group.originsFile() != null) {
      all.add(known(known, new OriginFile(upstream, group.originsFile(), protocol)));
    }
    if (group.originsSrv() != null) {
      all.add(known(known, new ServiceRecords(upstream, group.originsSrv(), protocol, lookup)));
    }
    all.add(registered);
    return new OriginLists(all, registered, protocol);
  }

  /** The list that names the same place, if one does. */
  private static OriginList known(List<OriginList> known, OriginList made) {
    return known.stream()
        .filter(list -> list.kind() == made.kind() && list.place().equals(made.place()))
        .findFirst()
        .orElse(made);
  }

  /** Those that may change without the configuration and the API. */
  public List<OriginList> watched() {
    return all.stream()
        .filter(list -> list.kind() == NamedBy.FILE || list.kind() == NamedBy.DNS)
        .toList();
  }

  /** Looks for news. May block for a moment. */
  public void refresh(long nowNanos) {
    all.forEach(list -> list.refresh(nowNanos));
  }

  /**
   * The origins that they name now, as the first list has them that does. One that came by the API
   * under another protocol is left out while this one does not suit it.
   */
  public List<OriginSettings> named() {
    Map<OriginUrl, OriginSettings> named = new LinkedHashMap<>();
    all.forEach(list -> list.origins().forEach(origin -> named.putIfAbsent(origin.url(), origin)));
    named.keySet().removeIf(url -> !protocol.suits(url));
    return List.copyOf(named.values());
  }

  /** The origins that SRV records name, and no list before them. */
  public Set<OriginUrl> services() {
    Map<OriginUrl, OriginList> naming = naming();
    naming.values().removeIf(list -> list.kind() != NamedBy.DNS);
    return naming.keySet();
  }

  /** The first list that names an origin. */
  public Map<OriginUrl, OriginList> naming() {
    Map<OriginUrl, OriginList> naming = new HashMap<>();
    all.forEach(list -> list.origins().forEach(origin -> naming.putIfAbsent(origin.url(), list)));
    return naming;
  }
}
