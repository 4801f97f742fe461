import type { Fault } from '../../../core/index.js'
import { type Html, html } from './html.js'
import type { Language } from './layout.js'

/** What went wrong, with what the person can do. */
export interface Problem {
  readonly title: string
  /** What happened, where no {@link Fault} says it more exactly. */
  readonly message: string
  readonly advice: string
}

/** Everything that the pages say. Where a text has `Html` in it, that is the name of something. */
const ENGLISH = {
  /** For `Intl`, which writes times. */
  locale: 'en-GB',
  signInTo: (service: string) => `Sign in to ${service}`,
  titleOfError: (title: string) => `Error: ${title}`,
  asksToSignIn: (client: Html) => html`${client} asks to sign you in, and names no particular permissions.`,
  asksForScopes: (client: Html) => html`${client} asks you to sign in.`,
  scopesGiven: (count: number) =>
    `By signing in, you give it ${count === 1 ? 'this permission' : 'these permissions'}:`,
  username: 'Username',
  password: 'Password',
  passwordNote: (service: Html, client: Html) => html`Enter it only here, at ${service}. ${client} does not see it.`,
  signIn: 'Sign in',
  cancel: 'Cancel',
  forgotPassword: 'Forgot your password?',
  noAccount: 'No account yet?',
  createAccount: 'Create an account',
  returnTo: (host: Html) => html`You will return to ${host}.`,
  returnToThisDevice: (host: Html) => html`You will return to an application on this device (${host}).`,
  returnToApplication: (scheme: Html) => html`You will return to the application ${scheme} on this device.`,
  notExpected: (client: Html) => html`Not expecting this? Close this page, and ${client} gets nothing.`,
  wrongCredentials: 'The username or the password is wrong.',
  /** `wait` is a duration such as "in 12 minutes", and `time` a time of day with its zone. */
  tooManyAttempts: (wait: string, time: Html) =>
    html`There were too many attempts to sign in. Try again ${wait}, after ${time}.`,
  /** `other_method`: the address does not have the method of the request. */
  faults: {
    missing_client: 'The link does not say which application it belongs to: it has no client_id.',
    token_request: 'The application sent a code to this page. Its place is the token endpoint, /auth/token.',
    unknown_client: 'The link names an application that is not known here.',
    no_redirect_uri: 'The application has registered no address to return to.',
    other_redirect_uri: 'The link leads back to an address that the application has not registered.',
    unnamed_redirect_uri: 'The application has several addresses to return to, and the link names none of them.',
    too_long: 'The link, or what was sent with it, is too long.',
    contradictory: 'The link and the form that was sent contradict each other.',
    other_method: 'The address was called in a way that it does not know.'
  } satisfies Record<Fault | 'other_method', string>,
  /** A request that is not in order. */
  refused: {
    title: 'This sign-in link does not work',
    message: 'Part of the link is missing, is unreadable or stands there twice.',
    advice: 'Go back to the application and start again from there. If that does not help, tell the people who run it.'
  },
  /** A form that another website has sent. */
  otherSite: {
    title: 'This sign-in was refused',
    message: 'Another website sent this form.',
    advice:
      'Close this page if you did not mean to sign in. Otherwise go back to the application and start again from there.'
  },
  /** A failure of the service that a later try may not meet. */
  unavailable: {
    title: 'Signing in is not possible right now',
    message: 'The service has too much to do, or cannot reach something that it needs.',
    advice: 'This is not your fault. Wait a minute, then go back to the application and start again from there.'
  },
  /** A bug of the service. */
  failed: {
    title: 'Something went wrong here',
    message: 'The service failed.',
    advice: 'This is not your fault. Wait a moment, then go back to the application and start again from there.'
  },
  /** A request of the account page that is not in order. Its advice is that of every error there. */
  accountRefused: {
    title: 'This request was refused',
    message: 'Part of what was sent is missing, is unreadable or stands there twice.',
    advice: 'Open the account page again, and start from there.'
  },
  errorStatus: (service: string, status: number) => `${service}, error ${status}`,
  requestId: (id: Html) => html`Request ${id}`,
  forDevelopers: 'For developers:',
  signedIn: 'You are signed in',
  codeFollows: (client: Html) => html`The login page has sent you back here with a code for the client ${client}:`,
  howToRedeem:
    'This command redeems it for a token. The code works once, and not for long. curl asks for the client’s secret, which the service printed when it first started.',
  notSignedIn: 'You are not signed in',
  errorFollows: (client: Html) => html`The login page has sent you back here with an error for the client ${client}:`,
  /** The link from the login page to the account page. */
  toAccount: 'Your logins and your password',
  accountAt: (service: string) => `Your account at ${service}`,
  accountPurpose: 'Sign in to see where you are logged in, to end logins and to change your password.',
  showLogins: 'Show my logins',
  onlyHere: (service: Html) => html`Enter it only here, at ${service}.`,
  openLogins: (count: number) => (count === 1 ? 'You are logged in once' : `You are logged in ${count} times`),
  notLoggedIn: 'You are not logged in anywhere.',
  chooseLogins: 'Choose the logins that are to end.',
  began: (time: Html) => html`Logged in ${time}`,
  refreshed: (time: Html) => html`Last refreshed ${time}`,
  others: (count: number) => `${count} older ${count === 1 ? 'login is' : 'logins are'} not shown.`,
  endAll: 'End all logins',
  newPassword: 'New password',
  atLeast: (least: number) => `At least ${least} characters.`,
  newPasswordNote: 'A new password ends every login. Leave the field empty to keep the old one.',
  passwordAgain: 'Each change needs your password once more.',
  change: 'Make these changes',
  loginsEnded: (count: number) =>
    count === 0 ? 'There was no login left to end.' : `${count} ${count === 1 ? 'login was' : 'logins were'} ended.`,
  passwordChanged: 'Your password was changed, and every login was ended.',
  credentialsMissing: 'Enter your username and your password.',
  passwordLength: (least: number, most: number) => `The new password must have ${least} to ${most} characters.`,
  chosenLogins: (count: number) =>
    `When you sign in, ${count === 1 ? 'the login' : `the ${count} logins`} that you chose will end.`
}

/** The texts of one language. */
export type Texts = Readonly<typeof ENGLISH>

/** Every text of the pages. A text that one language lacks does not compile. */
export const TEXTS: Readonly<Record<Language, Texts>> = {
  en: ENGLISH,

  de: {
    locale: 'de',
    signInTo: service => `Bei ${service} anmelden`,
    titleOfError: title => `Fehler: ${title}`,
    asksToSignIn: client =>
      html`${client} möchte, dass Sie sich anmelden, und verlangt keine besonderen Berechtigungen.`,
    asksForScopes: client => html`${client} möchte, dass Sie sich anmelden.`,
    scopesGiven: count =>
      `Mit der Anmeldung erteilen Sie ${count === 1 ? 'diese Berechtigung' : 'diese Berechtigungen'}:`,
    username: 'Benutzername',
    password: 'Passwort',
    passwordNote: (service, client) =>
      html`Geben Sie es nur hier ein, bei ${service}. ${client} bekommt es nicht zu sehen.`,
    signIn: 'Anmelden',
    cancel: 'Abbrechen',
    forgotPassword: 'Passwort vergessen?',
    noAccount: 'Noch kein Konto?',
    createAccount: 'Konto erstellen',
    returnTo: host => html`Danach kehren Sie zu ${host} zurück.`,
    returnToThisDevice: host => html`Danach kehren Sie zu einer Anwendung auf diesem Gerät zurück (${host}).`,
    returnToApplication: scheme => html`Danach kehren Sie zur Anwendung ${scheme} auf diesem Gerät zurück.`,
    notExpected: client =>
      html`Sie haben das nicht erwartet? Dann schließen Sie diese Seite, und ${client} erhält nichts.`,
    wrongCredentials: 'Der Benutzername oder das Passwort ist falsch.',
    tooManyAttempts: (wait, time) =>
      html`Es gab zu viele Anmeldeversuche. Versuchen Sie es ${wait} noch einmal, ab ${time}.`,
    faults: {
      missing_client: 'Der Link sagt nicht, zu welcher Anwendung er gehört: Ihm fehlt client_id.',
      token_request: 'Die Anwendung hat einen Code an diese Seite gesendet. Er gehört zum Token-Endpunkt, /auth/token.',
      unknown_client: 'Der Link nennt eine Anwendung, die hier nicht bekannt ist.',
      no_redirect_uri: 'Für die Anwendung ist keine Adresse hinterlegt, zu der sie zurückführt.',
      other_redirect_uri: 'Der Link führt zu einer Adresse zurück, die für die Anwendung nicht hinterlegt ist.',
      unnamed_redirect_uri:
        'Für die Anwendung sind mehrere Adressen hinterlegt, zu denen sie zurückführt, und der Link nennt keine davon.',
      too_long: 'Der Link oder das, was mit ihm gesendet wurde, ist zu lang.',
      contradictory: 'Der Link und das gesendete Formular widersprechen einander.',
      other_method: 'Die Adresse wurde auf eine Weise aufgerufen, die sie nicht kennt.'
    },
    refused: {
      title: 'Dieser Anmeldelink funktioniert nicht',
      message: 'Ein Teil des Links fehlt, ist unlesbar oder steht zweimal darin.',
      advice:
        'Gehen Sie zur Anwendung zurück und beginnen Sie dort noch einmal. Wenn das nicht hilft, wenden Sie sich an deren Betreiber.'
    },
    otherSite: {
      title: 'Diese Anmeldung wurde abgelehnt',
      message: 'Das Formular wurde von einer anderen Website gesendet.',
      advice:
        'Schließen Sie diese Seite, wenn Sie sich nicht anmelden wollten. Andernfalls gehen Sie zur Anwendung zurück und beginnen Sie dort noch einmal.'
    },
    unavailable: {
      title: 'Die Anmeldung ist gerade nicht möglich',
      message: 'Der Dienst ist überlastet oder kann etwas nicht erreichen, das er braucht.',
      advice:
        'Das liegt nicht an Ihnen. Warten Sie eine Minute, gehen Sie dann zur Anwendung zurück und beginnen Sie dort noch einmal.'
    },
    failed: {
      title: 'Hier ist etwas schiefgegangen',
      message: 'Im Dienst ist ein Fehler aufgetreten.',
      advice:
        'Das liegt nicht an Ihnen. Warten Sie einen Moment, gehen Sie dann zur Anwendung zurück und beginnen Sie dort noch einmal.'
    },
    accountRefused: {
      title: 'Diese Anfrage wurde abgelehnt',
      message: 'Ein Teil dessen, was gesendet wurde, fehlt, ist unlesbar oder steht zweimal darin.',
      advice: 'Öffnen Sie die Kontoseite noch einmal und beginnen Sie dort.'
    },
    errorStatus: (service, status) => `${service}, Fehler ${status}`,
    requestId: id => html`Anfrage ${id}`,
    forDevelopers: 'Für Entwickler:',
    signedIn: 'Sie sind angemeldet',
    codeFollows: client =>
      html`Die Anmeldeseite hat Sie mit einem Code für den Client ${client} hierher zurückgeschickt:`,
    howToRedeem:
      'Dieser Befehl löst ihn gegen ein Token ein. Der Code gilt nur einmal und nicht lange. curl fragt nach dem Geheimnis des Clients, das der Dienst bei seinem ersten Start ausgegeben hat.',
    notSignedIn: 'Sie sind nicht angemeldet',
    errorFollows: client =>
      html`Die Anmeldeseite hat Sie mit einem Fehler für den Client ${client} hierher zurückgeschickt:`,
    toAccount: 'Ihre Anmeldungen und Ihr Passwort',
    accountAt: service => `Ihr Konto bei ${service}`,
    accountPurpose:
      'Melden Sie sich an, um zu sehen, wo Sie angemeldet sind, um Anmeldungen zu beenden oder um Ihr Passwort zu ändern.',
    showLogins: 'Meine Anmeldungen zeigen',
    onlyHere: service => html`Geben Sie es nur hier ein, bei ${service}.`,
    openLogins: count => (count === 1 ? 'Sie sind einmal angemeldet' : `Sie sind ${count}-mal angemeldet`),
    notLoggedIn: 'Sie sind nirgends angemeldet.',
    chooseLogins: 'Wählen Sie die Anmeldungen, die enden sollen.',
    began: time => html`Angemeldet ${time}`,
    refreshed: time => html`Zuletzt erneuert ${time}`,
    others: count => `${count} ältere ${count === 1 ? 'Anmeldung wird' : 'Anmeldungen werden'} nicht gezeigt.`,
    endAll: 'Alle Anmeldungen beenden',
    newPassword: 'Neues Passwort',
    atLeast: least => `Mindestens ${least} Zeichen.`,
    newPasswordNote: 'Ein neues Passwort beendet alle Anmeldungen. Lassen Sie das Feld leer, um das alte zu behalten.',
    passwordAgain: 'Jede Änderung braucht noch einmal Ihr Passwort.',
    change: 'Änderungen ausführen',
    loginsEnded: count =>
      count === 0
        ? 'Es war keine Anmeldung mehr zu beenden.'
        : `${count} ${count === 1 ? 'Anmeldung wurde' : 'Anmeldungen wurden'} beendet.`,
    passwordChanged: 'Ihr Passwort wurde geändert, und alle Anmeldungen wurden beendet.',
    credentialsMissing: 'Geben Sie Ihren Benutzernamen und Ihr Passwort ein.',
    passwordLength: (least, most) => `Das neue Passwort muss ${least} bis ${most} Zeichen haben.`,
    chosenLogins: count =>
      `Wenn Sie sich anmelden, ${count === 1 ? 'endet die Anmeldung, die Sie gewählt haben' : `enden die ${count} Anmeldungen, die Sie gewählt haben`}.`
  },

  fr: {
    locale: 'fr',
    signInTo: service => `Se connecter à ${service}`,
    titleOfError: title => `Erreur\u00a0: ${title}`,
    asksToSignIn: client =>
      html`${client} vous demande de vous connecter et ne réclame aucune autorisation particulière.`,
    asksForScopes: client => html`${client} vous demande de vous connecter.`,
    scopesGiven: count =>
      `En vous connectant, vous lui accordez ${count === 1 ? 'cette autorisation' : 'ces autorisations'}\u00a0:`,
    username: 'Nom d’utilisateur',
    password: 'Mot de passe',
    passwordNote: (service, client) => html`Saisissez-le uniquement ici, chez ${service}. ${client} ne le voit pas.`,
    signIn: 'Se connecter',
    cancel: 'Annuler',
    forgotPassword: 'Mot de passe oublié\u202f?',
    noAccount: 'Pas encore de compte\u202f?',
    createAccount: 'Créer un compte',
    returnTo: host => html`Vous reviendrez ensuite sur ${host}.`,
    returnToThisDevice: host => html`Vous reviendrez ensuite à une application de cet appareil (${host}).`,
    returnToApplication: scheme => html`Vous reviendrez ensuite à l’application ${scheme} de cet appareil.`,
    notExpected: client => html`Vous ne vous y attendiez pas\u202f? Fermez cette page, et ${client} n’obtiendra rien.`,
    wrongCredentials: 'Le nom d’utilisateur ou le mot de passe est incorrect.',
    tooManyAttempts: (wait, time) => html`Il y a eu trop de tentatives de connexion. Réessayez ${wait} (${time}).`,
    faults: {
      missing_client: 'Le lien ne dit pas à quelle application il appartient\u00a0: client_id y manque.',
      token_request:
        'L’application a envoyé un code à cette page. Sa place est à /auth/token, d’où viennent les jetons.',
      unknown_client: 'Le lien désigne une application qui n’est pas connue ici.',
      no_redirect_uri: 'L’application n’a enregistré aucune adresse de retour.',
      other_redirect_uri: 'Le lien renvoie à une adresse que l’application n’a pas enregistrée.',
      unnamed_redirect_uri: 'L’application a plusieurs adresses de retour, et le lien n’en indique aucune.',
      too_long: 'Le lien, ou ce qui a été envoyé avec lui, est trop long.',
      contradictory: 'Le lien et le formulaire envoyé se contredisent.',
      other_method: 'L’adresse a été appelée d’une manière qu’elle ne connaît pas.'
    },
    refused: {
      title: 'Ce lien de connexion ne fonctionne pas',
      message: 'Une partie du lien est absente, illisible ou présente deux fois.',
      advice:
        'Revenez à l’application et recommencez à partir de là. Si le problème persiste, signalez-le à ses responsables.'
    },
    otherSite: {
      title: 'Cette connexion a été refusée',
      message: 'Ce formulaire a été envoyé par un autre site.',
      advice:
        'Fermez cette page si vous ne vouliez pas vous connecter. Sinon, revenez à l’application et recommencez à partir de là.'
    },
    unavailable: {
      title: 'La connexion est impossible pour le moment',
      message: 'Le service est surchargé ou ne peut pas joindre ce dont il a besoin.',
      advice:
        'Vous n’y êtes pour rien. Patientez une minute, puis revenez à l’application et recommencez à partir de là.'
    },
    failed: {
      title: 'Une erreur s’est produite ici',
      message: 'Le service a rencontré une erreur.',
      advice:
        'Vous n’y êtes pour rien. Patientez un instant, puis revenez à l’application et recommencez à partir de là.'
    },
    accountRefused: {
      title: 'Cette demande a été refusée',
      message: 'Une partie de ce qui a été envoyé est absente, illisible ou présente deux fois.',
      advice: 'Ouvrez de nouveau la page du compte et recommencez à partir de là.'
    },
    errorStatus: (service, status) => `${service}, erreur ${status}`,
    requestId: id => html`Requête ${id}`,
    forDevelopers: 'Pour les développeurs\u00a0:',
    signedIn: 'Connexion réussie',
    codeFollows: client => html`Vous revenez de la page de connexion avec un code pour le client ${client}\u00a0:`,
    howToRedeem:
      'Cette commande l’échange contre un jeton. Le code ne sert qu’une fois, et pas longtemps. curl demande le secret du client, que le service a affiché à son premier démarrage.',
    notSignedIn: 'La connexion n’a pas abouti',
    errorFollows: client => html`Vous revenez de la page de connexion avec une erreur pour le client ${client}\u00a0:`,
    toAccount: 'Vos connexions et votre mot de passe',
    accountAt: service => `Votre compte chez ${service}`,
    accountPurpose:
      'Connectez-vous pour voir où vous êtes connecté, pour mettre fin à des connexions et pour changer de mot de passe.',
    showLogins: 'Afficher mes connexions',
    onlyHere: service => html`Saisissez-le uniquement ici, chez ${service}.`,
    openLogins: count => (count === 1 ? 'Vous avez une connexion ouverte' : `Vous avez ${count} connexions ouvertes`),
    notLoggedIn: 'Vous n’êtes connecté nulle part.',
    chooseLogins: 'Choisissez les connexions auxquelles mettre fin.',
    began: time => html`Connexion le ${time}`,
    refreshed: time => html`Dernier renouvellement le ${time}`,
    others: count =>
      count === 1
        ? 'Une connexion plus ancienne n’est pas affichée.'
        : `${count} connexions plus anciennes ne sont pas affichées.`,
    endAll: 'Mettre fin à toutes les connexions',
    newPassword: 'Nouveau mot de passe',
    atLeast: least => `Au moins ${least} caractères.`,
    newPasswordNote:
      'Un nouveau mot de passe met fin à toutes les connexions. Laissez le champ vide pour garder l’ancien.',
    passwordAgain: 'Chaque modification demande à nouveau votre mot de passe.',
    change: 'Effectuer ces modifications',
    loginsEnded: count =>
      count === 0
        ? 'Il n’y avait plus de connexion à fermer.'
        : count === 1
          ? 'Une connexion a été fermée.'
          : `${count} connexions ont été fermées.`,
    passwordChanged: 'Votre mot de passe a été changé, et toutes les connexions ont été fermées.',
    credentialsMissing: 'Saisissez votre nom d’utilisateur et votre mot de passe.',
    passwordLength: (least, most) => `Le nouveau mot de passe doit avoir de ${least} à ${most} caractères.`,
    chosenLogins: count =>
      count === 1
        ? 'Quand vous vous connecterez, la connexion que vous avez choisie prendra fin.'
        : `Quand vous vous connecterez, les ${count} connexions que vous avez choisies prendront fin.`
  },

  es: {
    locale: 'es',
    signInTo: service => `Iniciar sesión en ${service}`,
    titleOfError: title => `Error: ${title}`,
    asksToSignIn: client => html`${client} le pide que inicie sesión y no solicita ningún permiso en particular.`,
    asksForScopes: client => html`${client} le pide que inicie sesión.`,
    scopesGiven: count => `Al iniciar sesión, le concede ${count === 1 ? 'este permiso' : 'estos permisos'}:`,
    username: 'Nombre de usuario',
    password: 'Contraseña',
    passwordNote: (service, client) => html`Introdúzcala solo aquí, en ${service}. ${client} no la ve.`,
    signIn: 'Iniciar sesión',
    cancel: 'Cancelar',
    forgotPassword: '¿Ha olvidado la contraseña?',
    noAccount: '¿Aún no tiene cuenta?',
    createAccount: 'Crear una cuenta',
    returnTo: host => html`Después volverá a ${host}.`,
    returnToThisDevice: host => html`Después volverá a una aplicación de este dispositivo (${host}).`,
    returnToApplication: scheme => html`Después volverá a la aplicación ${scheme} de este dispositivo.`,
    notExpected: client => html`¿No esperaba esto? Cierre esta página y ${client} no obtendrá nada.`,
    wrongCredentials: 'El nombre de usuario o la contraseña no son correctos.',
    tooManyAttempts: (wait, time) =>
      html`Ha habido demasiados intentos de inicio de sesión. Vuelva a intentarlo ${wait} (${time}).`,
    faults: {
      missing_client: 'El enlace no dice a qué aplicación pertenece: le falta client_id.',
      token_request:
        'La aplicación ha enviado un código a esta página. Su lugar es /auth/token, donde se obtienen los tokens.',
      unknown_client: 'El enlace nombra una aplicación que no se conoce aquí.',
      no_redirect_uri: 'La aplicación no ha registrado ninguna dirección a la que volver.',
      other_redirect_uri: 'El enlace lleva de vuelta a una dirección que la aplicación no ha registrado.',
      unnamed_redirect_uri: 'La aplicación tiene varias direcciones a las que volver y el enlace no nombra ninguna.',
      too_long: 'El enlace, o lo que se ha enviado con él, es demasiado largo.',
      contradictory: 'El enlace y el formulario enviado se contradicen.',
      other_method: 'Se ha llamado a la dirección de un modo que no conoce.'
    },
    refused: {
      title: 'Este enlace de inicio de sesión no funciona',
      message: 'Una parte del enlace falta, es ilegible o está dos veces.',
      advice: 'Vuelva a la aplicación y empiece de nuevo desde allí. Si el problema continúa, avise a sus responsables.'
    },
    otherSite: {
      title: 'Se ha rechazado este inicio de sesión',
      message: 'Otro sitio web ha enviado este formulario.',
      advice:
        'Cierre esta página si no quería iniciar sesión. De lo contrario, vuelva a la aplicación y empiece de nuevo desde allí.'
    },
    unavailable: {
      title: 'Ahora mismo no es posible iniciar sesión',
      message: 'El servicio está sobrecargado o no puede acceder a algo que necesita.',
      advice: 'No es culpa suya. Espere un minuto, vuelva a la aplicación y empiece de nuevo desde allí.'
    },
    failed: {
      title: 'Algo ha salido mal aquí',
      message: 'Se ha producido un error en el servicio.',
      advice: 'No es culpa suya. Espere un momento, vuelva a la aplicación y empiece de nuevo desde allí.'
    },
    accountRefused: {
      title: 'Se ha rechazado esta solicitud',
      message: 'Una parte de lo enviado falta, es ilegible o está dos veces.',
      advice: 'Abra de nuevo la página de la cuenta y empiece desde allí.'
    },
    errorStatus: (service, status) => `${service}, error ${status}`,
    requestId: id => html`Solicitud ${id}`,
    forDevelopers: 'Para desarrolladores:',
    signedIn: 'Ha iniciado sesión',
    codeFollows: client => html`Vuelve de la página de inicio de sesión con un código para el cliente ${client}:`,
    howToRedeem:
      'Este comando lo canjea por un token. El código sirve una sola vez y por poco tiempo. curl pide el secreto del cliente, que el servicio mostró al iniciarse por primera vez.',
    notSignedIn: 'No ha iniciado sesión',
    errorFollows: client => html`Vuelve de la página de inicio de sesión con un error para el cliente ${client}:`,
    toAccount: 'Sus sesiones y su contraseña',
    accountAt: service => `Su cuenta en ${service}`,
    accountPurpose:
      'Inicie sesión para ver dónde tiene sesiones abiertas, para cerrarlas y para cambiar la contraseña.',
    showLogins: 'Mostrar mis sesiones',
    onlyHere: service => html`Introdúzcala solo aquí, en ${service}.`,
    openLogins: count => (count === 1 ? 'Tiene una sesión abierta' : `Tiene ${count} sesiones abiertas`),
    notLoggedIn: 'No tiene ninguna sesión abierta.',
    chooseLogins: 'Elija las sesiones que quiere cerrar.',
    began: time => html`Iniciada el ${time}`,
    refreshed: time => html`Renovada por última vez el ${time}`,
    others: count =>
      count === 1 ? 'No se muestra una sesión más antigua.' : `No se muestran ${count} sesiones más antiguas.`,
    endAll: 'Cerrar todas las sesiones',
    newPassword: 'Contraseña nueva',
    atLeast: least => `Al menos ${least} caracteres.`,
    newPasswordNote: 'Una contraseña nueva cierra todas las sesiones. Deje el campo vacío para conservar la actual.',
    passwordAgain: 'Cada cambio necesita de nuevo su contraseña.',
    change: 'Hacer estos cambios',
    loginsEnded: count =>
      count === 0
        ? 'No quedaba ninguna sesión que cerrar.'
        : count === 1
          ? 'Se ha cerrado una sesión.'
          : `Se han cerrado ${count} sesiones.`,
    passwordChanged: 'Se ha cambiado su contraseña y se han cerrado todas las sesiones.',
    credentialsMissing: 'Introduzca su nombre de usuario y su contraseña.',
    passwordLength: (least, most) => `La contraseña nueva debe tener entre ${least} y ${most} caracteres.`,
    chosenLogins: count =>
      count === 1
        ? 'Cuando inicie sesión, se cerrará la sesión que ha elegido.'
        : `Cuando inicie sesión, se cerrarán las ${count} sesiones que ha elegido.`
  }
}
