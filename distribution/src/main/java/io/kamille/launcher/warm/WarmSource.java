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
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a warm-up needs of the appliance. Any thread.
 *
 * @param explain what would become of a request of this machine
 * @param entrance the first station
 * @param hottest the URLs that are asked for most, and how often
 * @param removedBy what a purge removed, the hottest first; null if there is no such purge
 * @param variants the request fields that stored responses of a URL were selected by
 */
public record WarmSource(
    BiFunction<RequestHead, InetAddress, Explanation> explain,
    ExchangeHandler entrance,
    List<EventLoop> loops,
    Supplier<Map<String, Long>> hottest,
    LongFunction<@Nullable List<PurgedUrl>> removedBy,
    Function<String, List<SelectingFields>> variants) {}
