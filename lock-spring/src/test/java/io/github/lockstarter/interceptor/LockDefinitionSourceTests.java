// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.config.ListFactoryBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySourcesPropertyResolver;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockDefinitionSourceTests {

	private final LockDefinitionSource source = new LockDefinitionSource(beanFactory());

	@Test
	void withoutAttributesTheNameIsThatOfClassAndMethodAndAllElseIsTheDefault() {
		LockOperation definition = definition(Defaults.class, "run");
		assertThat(request(definition).key()).isEqualTo(LockKey.of("LockDefinitionSourceTests.Defaults.run"));
		assertThat(request(definition).waitTime()).isNull();
		assertThat(request(definition).leaseTime()).isNull();
		assertThat(request(definition).holdAtMost()).isNull();
		assertThat(definition.locks()).singleElement().extracting(LockOperation.KeyedRequest::key).isNull();
		assertThat(definition.onFailure().onUnavailable()).isEqualTo(OnUnavailable.THROW);
		assertThat(definition.onFailure().fallback()).isNull();
		assertThat(definition.onFailure().onContention()).isEqualTo(OnContention.THROW);
		assertThat(definition.onLost()).isEqualTo(OnLost.DEFAULT);
		assertThat(definition.registry()).isEmpty();
	}

	@Test
	void placeholdersAreResolvedInEveryTextAttribute() {
		LockOperation definition = definition(Placeholders.class, "run");
		assertThat(request(definition).key()).isEqualTo(LockKey.of("stock"));
		assertThat(request(definition).waitTime()).isEqualTo(Duration.ofSeconds(5));
		assertThat(request(definition).leaseTime()).isEqualTo(Duration.ofSeconds(3));
		assertThat(request(definition(Placeholders.class, "limited")).holdAtMost()).isEqualTo(Duration.ofSeconds(3));
		assertThat(definition.locks().get(0).key()).isNotNull();
		assertThat(definition.locks().get(0).key().evaluate("stock", new Placeholders(), new Object[] { 5 }).all())
			.containsExactly(LockKey.of("stock", 5));
		assertThat(definition.onFailure().fallback()).isNotNull()
			.extracting((fallback) -> fallback.method().getName())
			.isEqualTo("instead");
	}

	@Test
	void theAnnotationIsFoundOnTheInterfaceTheSuperclassAndThroughOtherAnnotations() {
		assertThat(request(definition(OfInterface.class, "run")).key()).isEqualTo(LockKey.of("interface"));
		assertThat(request(definition(Overriding.class, "run")).key()).isEqualTo(LockKey.of("parent"));
		assertThat(request(definition(Inheriting.class, "run")).key()).isEqualTo(LockKey.of("parent"));
		assertThat(request(definition(OfGeneric.class, "run")).key()).isEqualTo(LockKey.of("generic"));
		LockOperation composed = definition(Composed.class, "run");
		assertThat(request(composed).key()).isEqualTo(LockKey.of("report"));
		assertThat(request(composed).waitTime()).isEqualTo(Duration.ofSeconds(7));
		assertThat(composed.onFailure().onContention()).isEqualTo(OnContention.SKIP);
	}

	@Test
	void aNameMayHoldAHashThatIsNoReference() {
		assertThat(request(definition(Defaults.class, "hash")).key()).isEqualTo(LockKey.of("#order#p1#a0b"));
	}

	@Test
	void theMethodOfAnInterfaceLeadsToThatOfTheClass() throws Exception {
		LockOperation definition = this.source.parse(Job.class.getMethod("run"), OfInterface.class);
		assertThat(definition).usingRecursiveComparison().isEqualTo(definition(OfInterface.class, "run"));
	}

	@Test
	void onAClassTheAnnotationAppliesToPublicMethodsAndOneOnAMethodReplacesIt() {
		assertThat(request(definition(OnClass.class, "visible")).key()).isEqualTo(LockKey.of("class"));
		assertThat(request(definition(OnClass.class, "inherited")).key()).isEqualTo(LockKey.of("class"));
		assertThat(request(definition(OnClass.class, "own")).key()).isEqualTo(LockKey.of("method"));
		assertThat(find(OnClass.class, "hidden")).isNull();
		assertThat(find(OnClass.class, "toString")).isNull();
		assertThat(find(OnClass.class, "ofTheClass")).isNull();
	}

	@Test
	void repeatedAnnotationsAreLocksThatAreTakenTogether() {
		assertThat(definition(Repeated.class, "run").locks()).extracting((lock) -> lock.request().key().name())
			.containsExactly("catalog", "stock");
		assertThat(definition(Repeated.class, "alsoThroughAnotherAnnotation").locks())
			.extracting((lock) -> lock.request().key().name())
			.containsExactlyInAnyOrder("stock", "report");
	}

	@Test
	void twoMethodsHaveNoDefaultNameInCommon() {
		definition(Importer.class, "run");
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> definition(io.github.lockstarter.interceptor.namesake.Importer.class, "run"))
			.withMessageContaining("its default name 'Importer.run' is also the one of"
					+ " 'io.github.lockstarter.interceptor.Importer.run()', so the two methods would have one lock")
			.extracting(InvalidLockDefinitionException::getAction)
			.asString()
			.startsWith("Set 'name' on each of them");
		definition(Importer.class, "named");
		assertThat(request(definition(io.github.lockstarter.interceptor.namesake.Importer.class, "named")).key())
			.isEqualTo(LockKey.of("import"));
	}

	@Test
	void anInvalidAnnotationNamesMethodAttributeAndRemedy() {
		Cases.rows(
				"""
						badName | 'name' must be 1 to 128 of the characters | Set 'name' to
						templateAsName | but was '#{productId}' | Set 'name' to a valid label. What differs in each call belongs in 'key', as in key = "#id".
						parameterAsName | name "#productId" is a static label, so #productId is not evaluated | Use key = "#productId".
						parameterInName | name "stock-#p0.sell" is a static label, so #p0 is not evaluated | key = "#p0"
						badWaitTime | waitTime: 'soon' is not a duration | "500ms", "3s" or "PT3S"
						bareWaitTime | waitTime: '10' has no unit | "500ms", "3s" or "PT3S"
						negativeWaitTime | 'waitTime' must not be negative | "0s"
						badLeaseTime | leaseTime: 'x' is not a duration | "500ms"
						shortLeaseTime | 'leaseTime' must be from 10 ms | Leave it out
						missingProperty | waitTime: Could not resolve placeholder 'missing' | ${property:default}
						badKey | key "#id +" is not a SpEL expression | "#id"
						blankKey | key is blank | Leave it out for one lock per name
						emptyProperty | key is blank, from ${empty} | Leave it out for one lock per name
						unknownVariable | key "#productID" uses #productID, which does not exist | The parameters are: #productId.
						unknownVariables | key "{#a, #b}" uses #a, #b, which do not exist | The parameters are: #productId.
						forgottenHash | key "productId" uses productId, which does not exist | The parameters are: #productId. Write a constant as 'text' in single quotes.
						noParameter | key "#productId" uses #productId, which does not exist | The method has no parameters.
						quotedParameter | key "'stock:#id'" has a parameter inside quotes, where it is not evaluated | Write "'stock:' + #id".
						quotedParameters | key "#root.method.name + '#p0-#id #other'" has a parameter inside quotes | Write "#p0 + '-' + #id + ' #other'".
						unknownBean | key "@regoins.get(#id)" uses the bean 'regoins', which does not exist | Correct the name
						unknownFactory | key "&regions" uses the bean '&regions', which does not exist | Correct the name
						mapKey | key "#ids" is a map | .keySet()
						streamKey | key "#p0" is a stream, which would be consumed | Declare the parameter as a collection
						primitiveSkip | onContention = SKIP has no empty result of type int | Optional
						unknownFallback | fallback: 'io.github.lockstarter.interceptor.LockDefinitionSourceTests$Invalid' has no method 'nowhere' | Declare a method
						fallbackWithOtherParameters | Invalid.noParameters()' returning int does not have | same parameters
						fallbackWithOtherReturnType | Invalid.text(long)' returning String does not have | same parameters
						fallbackToItself | Invalid.fallbackToItself()' returning void does not have | same parameters
						keptByReader | 'holdAtLeast' is not possible in mode READ | Leave it out
						badHoldAtLeast | holdAtLeast: 'x' is not a duration | "500ms"
						fixedAndLimited | 'holdAtMost' is for leases that are renewed | Leave it out for a lock that has a leaseTime.
						shortHoldAtMost | 'holdAtMost' must be from 10 ms | Leave it out for a lock that is renewed until the method ends.
						shortHoldAtLeast | 'holdAtLeast' must be from 10 ms | free when the method returns
						fencedPublisher | transactions of a reactive chain cannot be fenced | where … and fence < :token
						otherWaitTime | waitTime is '1s' in one annotation and '' in another | Use the same value
						otherReaction | onContention is 'SKIP' in one annotation and 'THROW' in another | Use the same value
						""",
				(method, problem, action) -> {
					assertThatExceptionOfType(InvalidLockDefinitionException.class)
						.isThrownBy(() -> find(Invalid.class, method))
						.withMessageStartingWith(
								"Invalid @DistributedLock on '" + Invalid.class.getName() + "." + method + "(")
						.withMessageContaining(problem)
						.satisfies((ex) -> {
							assertThat(ex.getDescription()).doesNotContainPattern("(\\w+): '\\1'");
							assertThat(ex.getAction()).contains(action);
							assertThat(ex).hasMessage(ex.getDescription() + ". " + ex.getAction());
						});
				});
	}

	@Test
	void anInvalidAnnotationOfAnotherMethodSaysWhereItIsDeclared() {
		String name = getClass().getName();
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(WithOtherNames.class, "sell"))
			.withMessage("Invalid @DistributedLock on '" + name + "$WithOtherNames.sell(long, int)' (declared on '"
					+ name
					+ "$Shop.sell(long, int)'): key \"#productId\" uses #productId, which does not exist. The parameters"
					+ " are: #id, #count. Name them as in the method that declares the annotation, or use #p0, #p1, …");
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(GenericWithOtherNames.class, "run"))
			.withMessageContaining("(declared on '" + name + "$KeyedJob.run(Object)')");
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(InvalidOnClass.class, "run"))
			.withMessageContaining("$InvalidOnClass.run(long)' (declared on the class): key \"#productId\"")
			.satisfies((ex) -> assertThat(ex.getAction()).isEqualTo("The parameters are: #id."));
	}

	@Test
	void theBeansOfAKeyAreLookedForInTheParentTooAndNotCreated() {
		DefaultListableBeanFactory parent = new DefaultListableBeanFactory();
		parent.registerBeanDefinition("ofParent", new RootBeanDefinition(List.class, () -> {
			throw new IllegalStateException("created");
		}));
		DefaultListableBeanFactory child = new DefaultListableBeanFactory(parent);
		child.registerBeanDefinition("factory", new RootBeanDefinition(ListFactoryBean.class));
		child.registerAlias("factory", "dotted.alias");
		LockDefinitionSource source = new LockDefinitionSource(child);
		for (Method method : Beans.class.getDeclaredMethods()) {
			assertThat(source.parse(method, Beans.class)).isNotNull();
		}
		assertThat(child.containsSingleton("factory")).isFalse();
	}

	@Test
	void aReturnTypeThatOutlivesTheMethodIsRefused() {
		Cases.each(namesOfMethods(Deferred.class), (method) -> {
			assertThatExceptionOfType(InvalidLockDefinitionException.class)
				.isThrownBy(() -> find(Deferred.class, method))
				.withMessageContaining("lets the work begin or continue after the method has returned")
				.satisfies(
						(ex) -> assertThat(ex.getAction()).startsWith("Return the result itself, a CompletableFuture"));
		});
	}

	@Test
	void aResultThatIsAFunctionByChanceIsReturnedUnderTheLock() {
		Cases.each(namesOfMethods(ByChance.class), (method) -> assertThat(definition(ByChance.class, method).adapter())
			.isInstanceOf(InvocationAdapter.Blocking.class));
	}

	@Test
	void aFenceWithoutSpringTransactionsIsRefused() throws Exception {
		DefaultListableBeanFactory beanFactory = beanFactory();
		beanFactory.setBeanClassLoader(new ClassLoader(null) {
		});
		Method fenced = Defaults.class.getDeclaredMethod("fenced");
		assertThat(this.source.parse(fenced, Defaults.class)).isNotNull();
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> new LockDefinitionSource(beanFactory).parse(fenced, Defaults.class))
			.withMessageContaining("transactionFencing is 'ON', but Spring transactions are not on the class path")
			.withMessageContaining("org.springframework:spring-tx");
	}

	@Test
	void aReturnTypeThatNotifiesOfItsEndIsFollowed() {
		Cases.each(namesOfMethods(Followed.class), (method) -> {
			assertThat(definition(Followed.class, method).adapter()).isNotInstanceOf(InvocationAdapter.Blocking.class);
			assertThat(definition(Defaults.class, "run").adapter()).isInstanceOf(InvocationAdapter.Blocking.class);
		});
	}

	@Test
	void aGenericReturnTypeIsResolvedBeforeItIsJudged() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> find(DeferredByGenerics.class, "supply"))
			.withMessageContaining("lets the work begin or continue");
	}

	private static List<String> namesOfMethods(Class<?> type) {
		return Arrays.stream(type.getDeclaredMethods()).map(Method::getName).toList();
	}

	private static LockRequest request(LockOperation definition) {
		return definition.locks().get(0).request();
	}

	private LockOperation definition(Class<?> type, String method) {
		LockOperation definition = find(type, method);
		assertThat(definition).isNotNull();
		return definition;
	}

	private @Nullable LockOperation find(Class<?> type, String name) {
		for (Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
			for (Method method : declaring.getDeclaredMethods()) {
				if (method.getName().equals(name) && !method.isBridge()) {
					return this.source.parse(method, type);
				}
			}
		}
		throw new IllegalArgumentException(name);
	}

	private static DefaultListableBeanFactory beanFactory() {
		MutablePropertySources sources = new MutablePropertySources();
		sources.addFirst(new MapPropertySource("test", Map.of("lock.name", "stock", "lock.key", "#id", "lock.wait",
				"5s", "lock.lease", "3s", "lock.fallback", "instead", "empty", "")));
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		beanFactory.addEmbeddedValueResolver(new PropertySourcesPropertyResolver(sources)::resolveRequiredPlaceholders);
		return beanFactory;
	}

	static class Defaults {

		@DistributedLock
		void run() {
		}

		@DistributedLock(transactionFencing = TransactionFencing.ON)
		void fenced() {
		}

		@DistributedLock(name = "#order#p1#a0b")
		void hash(long id) {
		}

	}

	static class Placeholders {

		@DistributedLock(name = "${lock.name}", key = "${lock.key}", waitTime = "${lock.wait}",
				leaseTime = "${lock.lease}", fallback = "${lock.fallback}")
		void run(int id) {
		}

		@DistributedLock(holdAtMost = "${lock.lease}")
		void limited() {
		}

		void instead(int id) {
		}

	}

	interface Job {

		@DistributedLock(name = "interface")
		void run();

	}

	static class OfInterface implements Job {

		@Override
		public void run() {
		}

	}

	interface Shop {

		@DistributedLock(key = "#productId")
		void sell(long productId, int quantity);

	}

	static class WithOtherNames implements Shop {

		@Override
		public void sell(long id, int count) {
		}

	}

	interface KeyedJob<T> {

		@DistributedLock(key = "#subject")
		void run(T subject);

	}

	static class GenericWithOtherNames implements KeyedJob<String> {

		@Override
		public void run(String text) {
		}

	}

	@DistributedLock(key = "#productId")
	static class InvalidOnClass {

		public void run(long id) {
		}

	}

	static class Parent {

		@DistributedLock(name = "parent")
		void run() {
		}

	}

	static class Overriding extends Parent {

		@Override
		void run() {
		}

	}

	static class Inheriting extends Parent {

	}

	interface GenericJob<T> {

		void run(T argument);

	}

	static class OfGeneric implements GenericJob<String> {

		@Override
		@DistributedLock(name = "generic", key = "#argument")
		public void run(String argument) {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "report", onContention = OnContention.SKIP)
	@interface OncePerCluster {

		@AliasFor(annotation = DistributedLock.class)
		String waitTime() default "0s";

	}

	static class Composed {

		@OncePerCluster(waitTime = "7s")
		void run() {
		}

	}

	static class Base {

		public void inherited() {
		}

	}

	@DistributedLock(name = "class")
	static class OnClass extends Base {

		public static void ofTheClass() {
		}

		public void visible() {
		}

		@DistributedLock(name = "method")
		public void own() {
		}

		void hidden() {
		}

		@Override
		public String toString() {
			return "text";
		}

	}

	static class Repeated {

		@DistributedLock(name = "catalog", mode = LockMode.READ)
		@DistributedLock(name = "stock", key = "#id")
		void run(long id) {
		}

		@DistributedLock(name = "stock", onContention = OnContention.SKIP, waitTime = "0s")
		@OncePerCluster
		void alsoThroughAnotherAnnotation() {
		}

	}

	static class Beans {

		@DistributedLock(key = "@ofParent.size()")
		void ofParent() {
		}

		@DistributedLock(key = "&factory.singleton + '-' + @factory.size()")
		void factory() {
		}

		@DistributedLock(key = "@'dotted.alias'")
		void alias() {
		}

	}

	static class Invalid {

		@DistributedLock(name = "a", transactionFencing = TransactionFencing.ON)
		Mono<Long> fencedPublisher() {
			return Mono.empty();
		}

		@DistributedLock(name = "of stock")
		void badName() {
		}

		@DistributedLock(name = "#{productId}")
		void templateAsName(long productId) {
		}

		@DistributedLock(name = "#productId")
		void parameterAsName(long productId) {
		}

		@DistributedLock(name = "stock-#p0.sell")
		void parameterInName(long productId) {
		}

		@DistributedLock(waitTime = "soon")
		void badWaitTime() {
		}

		@DistributedLock(waitTime = "10")
		void bareWaitTime() {
		}

		@DistributedLock(waitTime = "-1s")
		void negativeWaitTime() {
		}

		@DistributedLock(leaseTime = "x")
		void badLeaseTime() {
		}

		@DistributedLock(leaseTime = "1ms")
		void shortLeaseTime() {
		}

		@DistributedLock(holdAtMost = "9ms")
		void shortHoldAtMost() {
		}

		@DistributedLock(waitTime = "${missing}")
		void missingProperty() {
		}

		@DistributedLock(key = "#id +")
		void badKey(long id) {
		}

		@DistributedLock(key = " ")
		void blankKey() {
		}

		@DistributedLock(key = "${empty}")
		void emptyProperty() {
		}

		@DistributedLock(key = "'stock:#id'")
		void quotedParameter(long id) {
		}

		@DistributedLock(key = "#root.method.name + '#p0-#id #other'")
		void quotedParameters(long id) {
		}

		@DistributedLock(key = "@regoins.get(#id)")
		void unknownBean(long id) {
		}

		@DistributedLock(key = "&regions")
		void unknownFactory() {
		}

		@DistributedLock(key = "#productID")
		void unknownVariable(long productId) {
		}

		@DistributedLock(key = "{#a, #b}")
		void unknownVariables(long productId) {
		}

		@DistributedLock(key = "productId")
		void forgottenHash(long productId) {
		}

		@DistributedLock(key = "#productId")
		void noParameter() {
		}

		@DistributedLock(key = "#ids")
		void mapKey(Map<Long, String> ids) {
		}

		@DistributedLock(key = "#p0")
		void streamKey(Stream<Long> ids) {
		}

		@DistributedLock(onContention = OnContention.SKIP)
		int primitiveSkip() {
			return 0;
		}

		@DistributedLock(fallback = "nowhere")
		void unknownFallback() {
		}

		@DistributedLock(fallback = "noParameters")
		int fallbackWithOtherParameters(long id) {
			return 0;
		}

		@DistributedLock(fallback = "text")
		int fallbackWithOtherReturnType(long id) {
			return 0;
		}

		@DistributedLock(fallback = "fallbackToItself")
		void fallbackToItself() {
		}

		@DistributedLock(mode = LockMode.READ, holdAtLeast = "1h")
		void keptByReader() {
		}

		@DistributedLock(holdAtLeast = "x")
		void badHoldAtLeast() {
		}

		@DistributedLock(leaseTime = "1m", holdAtMost = "1h")
		void fixedAndLimited() {
		}

		@DistributedLock(holdAtLeast = "1ms")
		void shortHoldAtLeast() {
		}

		@DistributedLock(name = "a", waitTime = "1s")
		@DistributedLock(name = "b")
		void otherWaitTime() {
		}

		@DistributedLock(name = "a", onContention = OnContention.SKIP)
		@DistributedLock(name = "b")
		void otherReaction() {
		}

		int noParameters() {
			return 0;
		}

		String text(long id) {
			return "";
		}

	}

	interface Deferred {

		@DistributedLock
		Stream<String> stream();

		@DistributedLock
		IntStream intStream();

		@DistributedLock
		Iterator<String> iterator();

		@DistributedLock
		Callable<String> callable();

		@DistributedLock
		Supplier<String> supplier();

		@DistributedLock
		Runnable runnable();

		@DistributedLock
		Later function();

		@DistributedLock
		Future<String> future();

		@DistributedLock
		ScheduledFuture<String> scheduledFuture();

		@DistributedLock
		CompletableFutureOfOurOwn ownFuture();

		@DistributedLock
		ConnectableFlux<String> connectableFlux();

		@DistributedLock
		Optional<CompletableFuture<String>> insideAnotherType();

		@DistributedLock
		CompletableFuture<Flux<String>> publisherInFuture();

		@DistributedLock
		Mono<Stream<String>> streamInMono();

	}

	@FunctionalInterface
	interface Later {

		void run();

	}

	interface ByChance {

		@DistributedLock
		Price supplier();

		@DistributedLock
		List<Runnable> removed();

		@DistributedLock
		Comparable<String> comparable();

	}

	record Price(String get) implements Supplier<String> {
	}

	static class CompletableFutureOfOurOwn extends CompletableFuture<String> {

	}

	interface Followed {

		@DistributedLock
		CompletableFuture<String> completableFuture();

		@DistributedLock
		CompletionStage<String> completionStage();

		@DistributedLock
		Mono<String> mono();

		@DistributedLock
		Flux<String> flux();

		@DistributedLock
		org.reactivestreams.Publisher<String> publisher();

		@DistributedLock
		Flow.Publisher<String> flowPublisher();

	}

	interface Supplying<T> {

		Optional<T> supplyMaybe();

		@DistributedLock
		T supply();

	}

	interface DeferredByGenerics extends Supplying<Stream<String>> {

		@Override
		Stream<String> supply();

	}

}
