// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.transaction.TransactionFences;

/**
 * Checks that no annotated method of a bean runs without its lock: at the start all beans
 * of its application context, by their declared types if they do not exist yet; then each
 * bean that is created; and all beans of child contexts that do not check themselves.
 */
public final class LockDefinitionValidator implements BeanFactoryPostProcessor, BeanPostProcessor,
		SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent>, Ordered {

	private static final Log logger = LogFactory.getLog(LockDefinitionValidator.class);

	private static final String BEAN = "org.springframework.context.annotation.Bean";

	/** Spring calls methods with them without a proxy. */
	private static final List<String> CALLBACKS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private static final boolean TRANSACTIONS = ClassUtils.isPresent(
			"org.springframework.transaction.interceptor.TransactionInterceptor",
			LockDefinitionValidator.class.getClassLoader());

	private final LockDefinitionSource definitions;

	private final ConfigurableListableBeanFactory beanFactory;

	private final AdviceMode adviceMode;

	private final boolean mockito;

	private final SelfInvocationCheck selfInvocations = new SelfInvocationCheck();

	private final Map<Class<?>, List<Method>> lockedMethods = new ConcurrentReferenceHashMap<>();

	/** A locked method of each bean that is being initialized. */
	private final Map<String, Method> expected = new ConcurrentHashMap<>();

	/** Later post-processors may have wrapped the proxies of these beans. */
	private final Set<String> checked = ConcurrentHashMap.newKeySet();

	/**
	 * Create a validator.
	 * @param definitions provides the locks of methods
	 * @param beanFactory contains the beans to check
	 * @param adviceMode whether proxies or woven methods acquire the locks
	 */
	public LockDefinitionValidator(LockDefinitionSource definitions, ConfigurableListableBeanFactory beanFactory,
			AdviceMode adviceMode) {
		this.definitions = definitions;
		this.beanFactory = beanFactory;
		this.adviceMode = adviceMode;
		this.mockito = ClassUtils.isPresent("org.mockito.Mockito", beanFactory.getBeanClassLoader());
	}

	/**
	 * Check beans from now on, because other post-processors may need some before the
	 * application context registers this one, and the one that creates proxies.
	 */
	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		beanFactory.addBeanPostProcessor(new BeanPostProcessor() {

			/** Others come later, and may replace the bean. */
			@Override
			public Object postProcessBeforeInitialization(Object bean, String beanName) {
				lockedMethods(ClassUtils.getUserClass(bean)).stream()
					.findFirst()
					.ifPresent((method) -> LockDefinitionValidator.this.expected.put(beanName, method));
				return bean;
			}

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				requireAnnotation(beanName, bean);
				return isRegistered() ? bean
						: LockDefinitionValidator.this.postProcessAfterInitialization(bean, beanName);
			}

		});
		// The application context registers it in its order, among those that are beans
		beanFactory.registerSingleton(BeforeProxies.class.getName(), new BeforeProxies());
	}

	/** A proxy acquires the locks of the object behind it, not of what that calls. */
	private void requireAnnotation(String name, Object bean) {
		Method method = this.expected.get(name);
		if (method != null && this.adviceMode == AdviceMode.PROXY
				&& lockedMethods(ClassUtils.getUserClass(bean)).isEmpty()) {
			throw invalid(method,
					"a bean post-processor replaces the bean '" + name + "' by an object of the class "
							+ bean.getClass().getName() + ", which calls it without its lock",
					"Let the post-processor replace the bean in postProcessAfterInitialization, when it has its proxy,"
							+ " and not implement PriorityOrdered; or annotate the method of an interface that both"
							+ " classes have.");
		}
	}

	private boolean isRegistered() {
		return !(this.beanFactory instanceof AbstractBeanFactory beans) || beans.getBeanPostProcessors().contains(this);
	}

	/**
	 * Run after the processor that creates proxies.
	 */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	/**
	 * Check a bean that was created.
	 * @throws InvalidLockDefinitionException if a method would run without its lock
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// The target of a scoped proxy is a bean of its own
		if (!(bean instanceof Advised proxy) || proxy.getTargetSource().isStatic()) {
			Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
			List<Method> locked = lockedMethods(type);
			if (!locked.isEmpty() && !isMock(bean)) {
				locked.forEach((method) -> checkMethod(method, type));
				requireProxy(beanName, bean, locked);
				checkCallbacks(beanName, locked);
				this.checked.add(beanName);
			}
		}
		return bean;
	}

	/**
	 * Check all beans before the application accepts calls.
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	@Override
	public void afterSingletonsInstantiated() {
		RegistryCheck registries = new RegistryCheck(this.beanFactory);
		for (String name : this.beanFactory.getBeanNamesForType(Object.class)) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beanFactory, name);
			if (type != null) {
				checkBean(name, ClassUtils.getUserClass(type), registries);
			}
		}
		// The settings of a parent context may be those of its own methods
		if (this.beanFactory.getBeanNamesForType(LockSettings.class, true, false).length > 0) {
			registries.warnOfUnknownNames();
		}
		checkParents();
	}

	/**
	 * Require proxies for the beans of parent contexts that have no locks of their own:
	 * those of this context do not reach them.
	 */
	private void checkParents() {
		BeanFactory next = this.beanFactory.getParentBeanFactory();
		while (next instanceof ConfigurableListableBeanFactory parent
				&& parent.getBeanNamesForType(LockDefinitionValidator.class, true, false).length == 0) {
			LockDefinitionValidator validator = new LockDefinitionValidator(this.definitions, parent, this.adviceMode);
			for (String name : parent.getBeanDefinitionNames()) {
				if (parent.containsSingleton(name)) {
					validator.postProcessAfterInitialization(parent.getBean(name), name);
				}
			}
			next = parent.getParentBeanFactory();
		}
	}

	/**
	 * Check a child context that has no validator, and with it perhaps no proxies.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext()
			.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory beans
				&& beans.getBeanNamesForType(LockDefinitionValidator.class, true, false).length == 0) {
			LockDefinitionValidator validator = new LockDefinitionValidator(this.definitions, beans, this.adviceMode);
			beans.addBeanPostProcessor(validator);
			validator.afterSingletonsInstantiated();
		}
	}

	@Override
	public boolean supportsAsyncExecution() {
		return false;
	}

	private List<Method> lockedMethods(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLock.class)
				? this.lockedMethods.computeIfAbsent(type, LockAnnotations::methods) : List.of();
	}

	private void checkBean(String name, Class<?> type, RegistryCheck registries) {
		List<Method> locked = lockedMethods(type);
		if (locked.isEmpty()) {
			warnOfClassWithoutMethods(type);
			return;
		}
		Object bean = this.beanFactory.containsSingleton(name) ? this.beanFactory.getBean(name) : null;
		if (bean == null || !isMock(bean)) {
			locked.forEach((method) -> checkMethod(method, type));
			if (this.adviceMode == AdviceMode.PROXY) {
				checkProxy(name, bean, type, locked);
				checkCallbacks(name, locked);
			}
		}
		for (Method method : locked) {
			this.definitions.check(method, type, (qualifier, request) -> {
				LockRegistry registry = registries.check(method, qualifier, request);
				if (TRANSACTIONS && request.mode() == LockMode.READ && registry != null) {
					Transactions.checkReader(method, type, registry,
							this.beanFactory.getBeanProvider(TransactionFences.class).getIfAvailable());
				}
			});
		}
	}

	private static void warnOfClassWithoutMethods(Class<?> type) {
		if (AnnotationUtils.isCandidateClass(type, DistributedLock.class)
				&& MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedLock.class)) {
			logger.warn("@DistributedLock on the class " + type.getName()
					+ " has no effect, because it has no public method: make the methods public that need the lock, or"
					+ " annotate them instead of the class");
		}
	}

	private void checkProxy(String name, @Nullable Object bean, Class<?> type, List<Method> locked) {
		if (bean != null && !this.beanFactory.containsBeanDefinition(name)) {
			if (!isLocked(name, bean, locked.get(0))) {
				logger.warn("The bean '" + name + "' was not created by Spring, so '"
						+ InvalidLockDefinitionException.label(locked.get(0)) + "' runs without a lock");
			}
		}
		else if (bean != null && !this.checked.contains(name)) {
			requireProxy(name, bean, locked);
		}
		if (bean == null || AopUtils.isCglibProxy(bean)) {
			warnOfFinalMethods(name, locked);
		}
		this.selfInvocations.check(type, locked);
	}

	private void checkMethod(Method method, Class<?> type) {
		boolean proxied = this.adviceMode == AdviceMode.PROXY;
		int modifiers = method.getModifiers()
				& (proxied ? (Modifier.PRIVATE | Modifier.FINAL | Modifier.STATIC) : Modifier.STATIC);
		if (modifiers != 0) {
			throw unreachable(method, "the method is " + Modifier.toString(modifiers));
		}
		MergedAnnotations annotations = MergedAnnotations.from(method);
		if (annotations.isPresent(BEAN)) {
			throw calledBySpring(method, "a method with @Bean");
		}
		for (String callback : CALLBACKS) {
			if (proxied && annotations.isPresent(callback)) {
				throw calledBySpring(method, "a method with @" + ClassUtils.getShortName(callback));
			}
		}
		if (proxied && (isDeclaredBy(InitializingBean.class, "afterPropertiesSet", method)
				|| isDeclaredBy(DisposableBean.class, "destroy", method))) {
			throw calledBySpring(method, "a callback");
		}
		if (!proxied) {
			requireWoven(method);
		}
		else if ((method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
				&& !method.getDeclaringClass().getPackageName().equals(type.getPackageName())) {
			throw unreachable(method, "the method is not visible in the package of its bean's class " + type.getName());
		}
	}

	/**
	 * Refuse the methods that a bean definition names, or Spring infers, for the
	 * beginning and the end of a bean.
	 */
	private void checkCallbacks(String beanName, List<Method> locked) {
		if (this.adviceMode == AdviceMode.PROXY && this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName) instanceof AbstractBeanDefinition definition) {
			for (Method method : locked) {
				if (method.getParameterCount() == 0
						&& (ObjectUtils.containsElement(definition.getInitMethodNames(), method.getName())
								|| ObjectUtils.containsElement(definition.getDestroyMethodNames(), method.getName())
								|| isInferred(definition, method))) {
					throw calledBySpring(method, "an init or destroy method of the bean '" + beanName + "'");
				}
			}
		}
	}

	/** As Spring infers the method that ends a bean. */
	private static boolean isInferred(AbstractBeanDefinition definition, Method method) {
		boolean asked = AbstractBeanDefinition.INFER_METHOD.equals(definition.getDestroyMethodName());
		return switch (method.getName()) {
			case "close" -> asked || (definition.getDestroyMethodName() == null
					&& AutoCloseable.class.isAssignableFrom(method.getDeclaringClass()));
			case "shutdown" -> asked && !ClassUtils.hasMethod(method.getDeclaringClass(), "close");
			default -> false;
		};
	}

	private static boolean isDeclaredBy(Class<?> callbacks, String name, Method method) {
		return method.getName().equals(name) && method.getParameterCount() == 0
				&& callbacks.isAssignableFrom(method.getDeclaringClass());
	}

	private static InvalidLockDefinitionException calledBySpring(Method method, String what) {
		return invalid(method, "the lock has no effect on " + what + ", which Spring itself calls",
				"Lock a method that the application calls: one of the bean that a @Bean method returns, or of"
						+ " another bean; or use a LockTemplate. @Bean(destroyMethod = \"\") keeps Spring from calling"
						+ " close() or shutdown(). If the annotation is on the class and the"
						+ " method needs no lock, make the method non-public, or annotate the other methods instead.");
	}

	private static InvalidLockDefinitionException unreachable(Method method, String problem) {
		return invalid(method, problem + ", so no proxy can intercept its calls",
				"Make it a public method that is neither final nor static, or use a LockTemplate.");
	}

	/** A weaver adds such a field to each class that it changes. */
	private static void requireWoven(Method method) {
		Class<?> type = method.getDeclaringClass();
		if (!isSeenByTheAspect(method)
				|| Arrays.stream(type.getDeclaredFields()).noneMatch((field) -> field.getName().startsWith("ajc$"))) {
			throw invalid(method,
					"the class " + type.getName()
							+ " is not woven with the aspect, so the method would run without a lock",
					"Start the JVM with -javaagent and the jar of org.aspectj:aspectjweaver, or compile the class with"
							+ " ajc and this library as an aspect library. The annotation must be on the method of the"
							+ " class, or on the class, and at most two meta-annotations away: AspectJ does not see it"
							+ " on an interface or an overridden method. Or set distributed-lock.advice-mode=proxy.");
		}
	}

	private static boolean isSeenByTheAspect(Method method) {
		return isNear(MergedAnnotations.from(method)) || (Modifier.isPublic(method.getModifiers())
				&& isNear(MergedAnnotations.from(method.getDeclaringClass(), SearchStrategy.INHERITED_ANNOTATIONS)));
	}

	/** A pointcut names each level of meta-annotations. */
	private static boolean isNear(MergedAnnotations annotations) {
		return annotations.stream(DistributedLock.class).anyMatch((annotation) -> annotation.getDistance() <= 2);
	}

	private void requireProxy(String name, Object bean, List<Method> locked) {
		Method method = locked.get(0);
		if (this.adviceMode == AdviceMode.ASPECTJ || isLocked(name, bean, method)) {
			return;
		}
		Object exposed = this.beanFactory.getSingleton(name);
		if (exposed != null && isLocked(name, exposed, method)) {
			checkCircle(name, ClassUtils.getUserClass(bean), locked);
			return;
		}
		boolean withLocks = this.beanFactory.containsLocalBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				&& BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DistributedLockAdvisor.class,
						true, false).length > 0;
		if (withLocks) {
			throw invalid(method, "the bean '" + name + "' has no proxy, so its methods would run without a lock",
					"Make sure that no bean post-processor depends on this bean, directly or indirectly.");
		}
		throw invalid(method,
				"this application context has no distributed locks, so the bean '" + name
						+ "' would run without its lock",
				"With Spring Boot, add @EnableAutoConfiguration to the application, or @ImportAutoConfiguration("
						+ "DistributedLockAutoConfiguration.class) to the test, and do not exclude"
						+ " DistributedLockAutoConfiguration. Otherwise add @EnableDistributedLocks to this context. A"
						+ " test can replace the bean with a mock.");
	}

	private boolean isLocked(String name, Object bean, Method method) {
		boolean inTransaction = false;
		Object candidate = bean;
		while (candidate instanceof Advised proxy) {
			for (Advisor advisor : proxy.getAdvisors()) {
				inTransaction |= TRANSACTIONS && Transactions.isTransaction(advisor);
				if (advisor instanceof DistributedLockAdvisor) {
					if (inTransaction) {
						throw invalid(method,
								"the transactions of the bean '" + name + "' would begin before its lock is acquired"
										+ " and commit after it is released",
								"Set distributed-lock.advice-order, or the order of the lock's advisor, to a lower"
										+ " value than that of transactions.");
					}
					return true;
				}
			}
			if (!proxy.getTargetSource().isStatic()) {
				// The proxy of its target acquires the lock
				return true;
			}
			candidate = AopProxyUtils.getSingletonTarget(proxy);
		}
		return false;
	}

	/**
	 * In a circle of references, other beans get the proxy, but later post-processors get
	 * the bean itself, and what they set up calls it.
	 */
	private static void checkCircle(String name, Class<?> bean, List<Method> locked) {
		String remedy = "Break the circle, for example with @Lazy at one of its injection points";
		boolean listens = MergedAnnotations.from(bean, SearchStrategy.TYPE_HIERARCHY)
			.stream()
			.anyMatch((annotation) -> isListener(annotation.getType().getSimpleName()));
		for (Method method : locked) {
			for (MergedAnnotation<?> annotation : MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)) {
				String type = annotation.getType().getSimpleName();
				if (type.equals("Scheduled") || isListener(type) || (listens && type.endsWith("Handler"))) {
					throw invalid(method, "the bean '" + name + "' is in a circle of references, so @" + type
							+ " calls the method without its lock", remedy + ".");
				}
			}
		}
		logger.warn("The bean '" + name + "' is in a circle of references, so some bean post-processors see it without"
				+ " its proxy: what they call runs without a lock. " + remedy);
	}

	/** Listeners to events get the bean from its application context. */
	private static boolean isListener(String annotation) {
		return annotation.endsWith("Listener") && !annotation.endsWith("EventListener");
	}

	private static void warnOfFinalMethods(String name, List<Method> locked) {
		locked.stream()
			.map(Method::getDeclaringClass)
			.distinct()
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> (method.getModifiers() & (Modifier.PUBLIC | Modifier.FINAL | Modifier.STATIC)) //
					== (Modifier.PUBLIC | Modifier.FINAL))
			.forEach((method) -> logger
				.warn("'" + InvalidLockDefinitionException.label(method) + "' is final, so it runs on the proxy of the"
						+ " bean '" + name + "' itself, where all fields are null. Make it non-final"));
	}

	/** A mock replaces a bean in a test, and has nothing to lock. */
	private boolean isMock(Object bean) {
		if (!this.mockito) {
			return false;
		}
		Object details = call("org.mockito.Mockito", "mockingDetails", null, bean);
		return details != null && Boolean.TRUE.equals(call("org.mockito.MockingDetails", "isMock", details));
	}

	private @Nullable Object call(String type, String name, @Nullable Object target, Object... arguments) {
		Class<?> owner = ClassUtils.resolveClassName(type, this.beanFactory.getBeanClassLoader());
		Class<?>[] parameters = new Class<?>[arguments.length];
		Arrays.fill(parameters, Object.class);
		return ReflectionUtils.invokeMethod(ClassUtils.getMethod(owner, name, parameters), target, arguments);
	}

	private static InvalidLockDefinitionException invalid(Method method, String problem, String action) {
		return new InvalidLockDefinitionException(method, problem, action, null);
	}

	/**
	 * Checks what the processor that creates proxies will get, right before it.
	 */
	private final class BeforeProxies implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			requireAnnotation(beanName, bean);
			LockDefinitionValidator.this.expected.remove(beanName);
			return bean;
		}

	}

	/** Loaded only if Spring transactions are on the class path. */
	private static final class Transactions {

		static boolean isTransaction(Advisor advisor) {
			return advisor.getAdvice() instanceof org.springframework.transaction.interceptor.TransactionInterceptor;
		}

		/** Readers claim nothing, so no call of the method would get its transaction. */
		static void checkReader(Method method, Class<?> type, LockRegistry registry,
				@Nullable TransactionFences fences) {
			DistributedLock lock = LockAnnotations.find(method, type).get(0);
			boolean isFenced = fences != null && fences.areAllFenced(registry, lock.transactionFencing())
					&& (lock.onLost() != OnLost.LOG || lock.transactionFencing() == TransactionFencing.ON);
			TransactionAttribute transaction = new AnnotationTransactionAttributeSource(false)
				.getTransactionAttribute(method, type);
			if (isFenced && transaction != null && !transaction.isReadOnly()
					&& Set
						.of(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_REQUIRES_NEW,
								TransactionDefinition.PROPAGATION_NESTED)
						.contains(transaction.getPropagationBehavior())) {
				throw invalid(method,
						"its transaction under the lock is to be fenced, but readers (mode = READ) claim nothing",
						"Use @Transactional(readOnly = true), mode = WRITE, or transactionFencing = OFF.");
			}
		}

	}

}
