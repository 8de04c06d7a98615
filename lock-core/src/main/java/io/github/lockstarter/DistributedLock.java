// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method under a distributed lock: of all instances of the application, at most
 * one at a time is inside the method with the same name and key.
 *
 * <p>
 * The lock is taken before a transaction begins and given back after it has ended. A
 * nested call for the same lock on the same thread, or inside of the same reactive chain,
 * is reentrant and costs nothing; one that returns a future is not. The body never runs
 * without the lock.
 *
 * <p>
 * A method may return a {@link java.util.concurrent.CompletableFuture}, or a
 * {@code Mono}, {@code Flux} or another reactive type if Reactor is there. Its caller
 * gets that at once and is not blocked. The lock is taken at the call, or at each
 * subscription, before the method itself is called on a thread that may block; it is
 * given back when the future or publisher ends, fails or is cancelled. A method whose
 * work goes on in a way that cannot be followed, like that of a stream, is an invalid
 * definition.
 *
 * <p>
 * Repeated, or with a collection as its key, it acquires several locks together or not at
 * all, in an order that is the same in all instances. All annotations of a method must
 * agree on what happens if the locks cannot be acquired. The method holds a
 * {@link LeaseSet} then, and a parameter of type {@link Lease} is an invalid definition.
 *
 * <p>
 * On a class, the annotation applies to its public methods; one on a method replaces it.
 * Usable as a meta-annotation with {@link org.springframework.core.annotation.AliasFor}.
 * Like all advice by proxies it is not seen by calls of a bean to itself, of which a
 * warning tells at startup; use {@link LockTemplate} there, or weaving with
 * {@code distributed-lock.advice-mode=aspectj}. All text attributes may contain
 * <code>${…}</code> placeholders. An invalid definition ends the start of the application
 * with an {@code InvalidLockDefinitionException}; one that only the class of a lazy bean
 * shows, and not its declared type, ends the first call.
 *
 * <p>
 * A lease can end early (the store loses its data, the JVM pauses for longer than the
 * lease). Where that must not do harm, pass {@link Lease#fencingToken()} on to the
 * guarded resource.
 *
 * @see LockTemplate
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

	/**
	 * Name of what is guarded: a static label of letters, digits, {@code .}, {@code _},
	 * {@code -}, {@code $} and {@code #}, at most {@value LockKey#MAX_NAME_LENGTH}
	 * characters. Defaults to {@code ShortClass.method} of the bean, which overloaded
	 * methods share.
	 */
	String name() default "";

	/**
	 * SpEL expression for the key within the name, for example {@code "#productId"}.
	 * Parameters are available by name and as {@code #p0} or {@code #a0}, beans as
	 * {@code @bean}, and {@code #root.method}, {@code #root.target} and
	 * {@code #root.args}. The value is turned into text by {@link String#valueOf}; null,
	 * blank text and more than {@value LockKey#MAX_KEY_LENGTH} characters are refused
	 * with an {@link IllegalArgumentException}. Empty: one lock for the whole name.
	 *
	 * <p>
	 * A collection, an array or a stream stands for the locks of all its elements, at
	 * least one and at most {@value LockRequest#MAX_LOCKS}, which are taken together or
	 * not at all.
	 */
	String key() default "";

	/**
	 * How the lock is shared.
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * How long a call may wait for the lock, as {@code "500ms"}, {@code "3s"} or ISO-8601
	 * text; {@code "0s"} does not wait. Defaults to {@code distributed-lock.wait-time}.
	 */
	String waitTime() default "";

	/**
	 * Fixed length of the lease, in the form of {@link #waitTime()}; the lock is lost
	 * when the body takes longer. By default the lease has
	 * {@code distributed-lock.lease-time} and is renewed until the body ends, which is
	 * what most methods want.
	 */
	String leaseTime() default "";

	/**
	 * How long the lock stays taken at least, counted from its grant, if the method
	 * returns; in the form of {@link #waitTime()}. If it throws the lock is free at once.
	 * That is for the job that several instances are told to do at the same time: one
	 * does it, and the others find the lock taken though it is done already. An instance
	 * that crashes later changes nothing, once the store was told.
	 */
	String holdAtLeast() default "";

	/**
	 * What to do when somebody else holds the lock for the whole wait time. Not used with
	 * a {@link #fallback()}.
	 */
	OnContention onContention() default OnContention.THROW;

	/**
	 * Name of a method of the same class, with the same parameters and a matching return
	 * type, that is called instead of the body when somebody else holds the lock for the
	 * whole wait time; see also {@link #onUnavailable()}. One more parameter, at the end,
	 * takes the exception that would have been thrown, for example as
	 * {@link LockException}; of two methods the one that has it is called. It runs
	 * without the lock and gets {@code null} for a {@link Lease}. It is called on the
	 * object itself, so its own annotations, for example {@code @Transactional}, have no
	 * effect.
	 */
	String fallback() default "";

	/**
	 * What to do when the lock cannot be asked for. Only the acquisition counts: what the
	 * body throws always reaches the caller, and so do an interrupt and a lost lock.
	 */
	OnUnavailable onUnavailable() default OnUnavailable.THROW;

	/**
	 * What to do when a transaction is active already when the lock is taken. One that
	 * begins inside of the lock, as that of {@code @Transactional} on the same method
	 * does, is not affected. Has no meaning for methods that return a future or
	 * publisher, whose work is not part of the transaction of their caller's thread.
	 */
	OnActiveTransaction onActiveTransaction() default OnActiveTransaction.DEFAULT;

	/**
	 * What to do when the lease is lost while the body runs.
	 */
	OnLost onLost() default OnLost.THROW;

}
