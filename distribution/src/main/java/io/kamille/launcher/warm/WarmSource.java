package io.kamille.launcher.warm;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a warm-up needs of the appliance. Any thread. */
public interface WarmSource {

  /** What would become of a request of this machine. */
  Explanation explain(RequestHead request, InetAddress client);

  /** The first station. */
  ExchangeHandler entrance();

  List<EventLoop> loops();

  /** The URLs that are asked for most, and how often. */
  Map<String, Long> hottest();

  /** What a purge removed, the hottest first; null if there is no such purge. */
  @Nullable List<PurgedUrl> removedBy(long purge);

  /** The request fields that stored responses of a URL were selected by. */
  List<SelectingFields> variants(String url);
}
