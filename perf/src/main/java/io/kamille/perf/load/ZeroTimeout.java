package io.kamille.perf.load;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Polls with a time-out of 0, so that the kernel registers no waiter on any socket: the poll of
 * Kawai, Kadobayashi and Yamaguchi, 2004 (docs/research.md, P1), Fig. 3. A loop over it is paced,
 * or it never sleeps. Confined to its loop, but for {@code wakeup}.
 */
record ZeroTimeout(IoHandler selector) implements IoHandler {

  static IoHandlerFactory over(IoHandlerFactory selectors) {
    return new IoHandlerFactory() {
      @Override
      public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new ZeroTimeout(selectors.newHandler(executor));
      }

      @Override
      public boolean isChangingThreadSupported() {
        return selectors.isChangingThreadSupported();
      }
    };
  }

  @Override
  public int run(IoHandlerContext context) {
    return selector.run(new Now(context));
  }

  @Override
  public void initialize() {
    selector.initialize();
  }

  @Override
  public void prepareToDestroy() {
    selector.prepareToDestroy();
  }

  @Override
  public void destroy() {
    selector.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return selector.register(handle);
  }

  @Override
  public void wakeup() {
    selector.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return selector.isCompatible(handleType);
  }

  /** What the selector is told: not to wait. */
  private record Now(IoHandlerContext paced) implements IoHandlerContext {

    @Override
    public boolean canBlock() {
      return false;
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
      return paced.delayNanos(currentTimeNanos);
    }

    @Override
    public long deadlineNanos() {
      return paced.deadlineNanos();
    }

    @Override
    public boolean shouldReportActiveIoTime() {
      return paced.shouldReportActiveIoTime();
    }
  }
}
